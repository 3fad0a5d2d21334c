"""Reading pages of the open web, and searching it."""
