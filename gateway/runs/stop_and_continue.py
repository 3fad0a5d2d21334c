"""Results of asking a session to stop or to continue."""

from enum import StrEnum


class Stopped(StrEnum):
    """Result of a stop request."""

    NOTHING = "nothing"
    RUN = "run"
    """A run was stopped; its own message reports it."""
    WAITING = "waiting"
    """Only messages were waiting whose run had not begun."""


class Continuing(StrEnum):
    """Result of asking to continue a run."""

    POSSIBLE = "possible"
    NOTHING = "nothing"
    """No run waits to be continued, or the chat has moved on."""
    NOT_YOURS = "not yours"
