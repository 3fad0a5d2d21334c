"""Finding what was said earlier: the command /search and the tool of the model."""
