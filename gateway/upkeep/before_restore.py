"""Reports messages from before a restore to the owners; they are not answered."""

import structlog

from channels.base import ButtonPressed, CommandInvoked, InboundEvent, MessageEdited, MessageReceived
from gateway.settings.current import CurrentSettings
from gateway.store.restores import Restored, SetAside
from gateway.store.store import Store
from gateway.texts.moments import moment_words
from gateway.upkeep.owners import Owners

MOST_TOLD = 30
"""Messages that are listed in one report."""
LONGEST = 100
"""Characters of each."""

log = structlog.get_logger(__name__)


class BeforeRestore:
    """Recognises and reports what users sent before the store was restored."""

    def __init__(self, store: Store, owners: Owners, current: CurrentSettings, restored: Restored | None) -> None:
        """`restored` is the store's last restore; None if it was never restored."""
        self._store = store
        self._owners = owners
        self._current = current
        self._restored = restored
        self._waiting = 0
        """The number of messages to report at the last check."""

    @property
    def is_needed(self) -> bool:
        return self._restored is not None

    def is_from_before(self, event: InboundEvent) -> bool:
        """Return True if a user sent this before the restore; it is then reported to owners, not answered."""
        says = MessageReceived | CommandInvoked | MessageEdited | ButtonPressed
        return self._restored is not None and isinstance(event, says) and event.at < self._restored.at

    async def tell(self) -> None:
        """Report to the owners once no further message has arrived since the last check."""
        if self._restored is None or not (rows := await self._store.restores.unreported()):
            return
        if len(rows) != self._waiting:
            self._waiting = len(rows)
            return
        lines = [self._line(row) for row in rows[:MOST_TOLD]]
        if more := len(rows) - MOST_TOLD:
            lines += [f"… (+{more})"] if more > 0 else []
        self._owners.tell(
            "said_before_restore",
            backup=self._moment(self._restored.taken_at),
            restored=self._moment(self._restored.at),
            count=len(rows),
            lines="\n".join(lines),
        )
        log.warning("messages from before the restore are not answered", messages=len(rows))
        await self._store.restores.mark_reported([row.seq for row in rows])

    def _line(self, row: SetAside) -> str:
        words = " ".join(row.words.split())
        words = words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
        return f"- {self._moment(row.at)}, {row.who} ({row.chat}): {words}"

    def _moment(self, at: float) -> str:
        return moment_words(at, self._current.zone)
