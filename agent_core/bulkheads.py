"""Isolation between parts of Parley's own work: a bug in one does not stop the others."""

from agent_core.contained import Contained


class Bulkhead(Contained):
    """`with Bulkhead("firing") as bulkhead:` contains an exception of Parley's own code.

    For other people's code there is `Guest`. The caller must check `error`, and report it or try again.
    """

    event = "a mistake of ours"
