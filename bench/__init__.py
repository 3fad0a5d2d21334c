"""Figures about Parley, each beside a bare loop in the same run: `python -m bench`."""
