"""Figures about Parley, each beside a bare bot in the same run: `python -m bench`."""
