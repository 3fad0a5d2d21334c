"""Explains how an answer came about: the command /why, and the details of a run's tool calls."""
