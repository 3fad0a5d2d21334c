"""Looks for a newer version: `parley upgrade`."""
