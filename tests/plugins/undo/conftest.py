"""The bot with a heartbeat, for the tests of /undo."""

from tests.gateway.heartbeat.conftest import start_beating, start_looking

__all__ = ["start_beating", "start_looking"]
