"""Runs shown step by step: `parley replay`."""
