"""Running one tool call that may be run: its time limit, its retries, and a result that a model can take."""
