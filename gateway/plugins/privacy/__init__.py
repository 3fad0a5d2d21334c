"""The command /privacy: what is kept, for how long, and where it goes."""
