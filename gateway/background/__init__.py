"""Waiting for and draining background work."""
