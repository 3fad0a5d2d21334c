"""Praise and blame of answers."""
