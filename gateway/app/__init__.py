"""Starting Parley from the command line."""
