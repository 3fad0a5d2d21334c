"""Reactions on people's messages that show what becomes of them."""
