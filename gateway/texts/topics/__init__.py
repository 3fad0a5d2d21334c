"""Texts that Parley itself shows to people: a table `TEXTS` for each topic."""
