"""Guides that connect Parley with a platform or a model, step by step, for a terminal as well as for the page."""
