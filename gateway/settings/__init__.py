"""Settings: their values, sources, checks and error messages."""
