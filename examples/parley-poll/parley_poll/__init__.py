"""Polls with buttons, as a plugin of Parley."""
