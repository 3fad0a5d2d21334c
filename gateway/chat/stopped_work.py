"""The work of a chat's session that was stopped: by a user, or because users lost the right to speak."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.runs.stop_and_continue import Stopped
from gateway.store.rows import InboxItem, Run


@dataclass(frozen=True)
class Halted:
    """Work that a user has stopped, but that is not settled yet."""

    what: Stopped
    dropped: Sequence[InboxItem]
    left: Sequence[Run]
    """Runs of the previous process, which were not resumed and have not ended yet."""


@dataclass(frozen=True)
class Expelled:
    """The work that a session has ended for users who lost the right to speak."""

    stopped: Run | None
    left: Sequence[Run]
    """Runs of the previous process, which were not resumed and have not ended yet."""
    messages: Sequence[InboxItem]
