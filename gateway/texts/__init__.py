"""Texts for users, in English and Chinese."""
