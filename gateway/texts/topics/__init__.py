"""Texts that Parley itself shows to people, a module for each topic: `say` knows the table `TEXTS` of each one here."""
