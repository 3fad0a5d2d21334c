"""The command /audit and `parley audit`."""
