"""How the heartbeat of a whole house is set."""

from dataclasses import dataclass


@dataclass(frozen=True)
class HeartbeatSettings:
    """Without them nobody is looked after who has not asked for it."""

    introduces: bool = True
    """Whether it begins by itself in the owner's own chat, and says so there once."""
