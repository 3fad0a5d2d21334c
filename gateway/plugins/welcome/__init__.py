"""The command /start: a greeting, and what to try first."""
