"""Benchmarks of Parley, compared with bare bots in the same run: `python -m bench`."""
