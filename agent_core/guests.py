"""Isolation of callbacks passed in by callers: their failure stops nothing else."""

from agent_core.contained import Contained


class Guest(Contained):
    """`with Guest("listener"):` contains an exception of a callback that a caller passed in."""

    event = "a guest failed"
