"""Divides what a run has said that waits for a budget: words of others, and what followed, are not to wait with it."""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from agent_core.messages import AgentMessage, AssistantMessage, Derived
from agent_core.origin import CLEAN, NOT_KNOWN
from channels.base import MessageReceived
from gateway.store.connection import Connection
from gateway.store.history import GIVEN_BACK, IS_KEPT
from gateway.store.inbox import parse_item
from gateway.store.rows import InboxItem, Run, inbox_seqs
from gateway.store.table import first_readable, readable
from gateway.store.transcript import numbered_message

_SAID = f"SELECT seq, message FROM transcript WHERE run = ? AND {IS_KEPT} ORDER BY seq"  # noqa: S608

Row = tuple[int, AgentMessage]


class OfOthers(Struct, frozen=True):
    """The messages of a waiting run that belong to other people."""

    items: Sequence[int]
    """Numbers of the inbox items that wait again, for runs of their own."""
    runs: Sequence[Run]
    """Runs of others that go on where this one stopped. They wait until they are taken up."""


class _Part(Struct):
    """Words about which a model was asked together, and what followed them."""

    words: list[tuple[int, InboxItem]] = field(default_factory=list)
    rest: list[Row] = field(default_factory=list)

    @property
    def is_seen(self) -> bool:
        return any(isinstance(message, AssistantMessage) for _, message in self.rest)

    def first_of_other(self, person: str) -> InboxItem | None:
        return next((item for _, item in self.words if item.event.sender.id != person), None)


class _Shares(Struct):
    """The rows with which the new run of each other person goes on."""

    begun_by: dict[str, InboxItem] = field(default_factory=dict)
    """By person the first message of each new run."""
    rows: dict[str, list[int]] = field(default_factory=dict)
    given_back: list[tuple[int, InboxItem]] = field(default_factory=list)

    def add(self, part: _Part, person: str) -> None:
        """Share a part out. What followed the words goes with the first other who spoke, so that nothing is done again
        for them; third persons, who read it in the history then, are answered after them."""
        first = part.first_of_other(person)
        heir = first.event.sender.id if first is not None and part.is_seen else person
        for row, item in part.words:
            speaker = item.event.sender.id
            if speaker not in (person, heir):
                self.given_back.append((row, item))
            elif speaker != person:
                self._give(speaker, item, row)
        if first is not None and heir != person:
            for row, _ in part.rest:
                self._give(heir, first, row)

    def _give(self, person: str, item: InboxItem, row: int) -> None:
        self.begun_by.setdefault(person, item)
        self.rows.setdefault(person, []).append(row)


def divide(connection: Connection, run: Run, now: float, new_id: Callable[[], str]) -> OfOthers:
    """Leave to others what they said in a run of `run.person`: it becomes runs of their own, or is asked anew."""
    stored = connection.execute(_SAID, (run.id,)).fetchall()
    said = list(readable(stored, numbered_message, "transcript"))
    shares = _Shares()
    for part in _parts(connection, said):
        shares.add(part, run.person)
    if shares.begun_by:
        _keep_origins(connection, said, is_whole=len(said) == len(stored))
    for row, item in shares.given_back:
        _give_back(connection, run, row, item.seq, now)
    runs = [_begin(connection, run, item, now, new_id()) for item in shares.begun_by.values()]
    for begun, rows in zip(runs, shares.rows.values(), strict=True):
        _move(connection, run, begun, rows)
    return OfOthers([item.seq for _, item in shares.given_back], runs)


def _parts(connection: Connection, said: Iterable[Row]) -> list[_Part]:
    parts = [_Part()]
    for row, message in said:
        item = _item_of(connection, message)
        if item is None:
            parts[-1].rest.append((row, message))
            continue
        if parts[-1].rest:
            parts.append(_Part())
        parts[-1].words.append((row, item))
    return parts


def _item_of(connection: Connection, message: AgentMessage) -> InboxItem | None:
    """Return the message of a person from which this one was made, if it was and can be read."""
    for seq in inbox_seqs([message.id]) if message.role == "user" else ():
        rows = connection.execute("SELECT seq, payload FROM inbox WHERE seq = ?", (seq,))
        item = first_readable(rows, parse_item, "inbox")
        if item is not None and isinstance(item.event, MessageReceived):
            return item
    return None


def _keep_origins(connection: Connection, said: Iterable[Row], *, is_whole: bool) -> None:
    """Give each answer the origin of all that it was made from, since that will not stand before it any more."""
    origin = CLEAN if is_whole else NOT_KNOWN
    for row, message in said:
        origin |= message.origin if isinstance(message, Derived) else CLEAN
        if isinstance(message, AssistantMessage) and message.origin != origin:
            text = message.model_copy(update={"origin": origin}).model_dump_json()
            connection.execute("UPDATE transcript SET message = ? WHERE seq = ?", (text, row))


def _give_back(connection: Connection, run: Run, row: int, seq: int, now: float) -> None:
    connection.execute("UPDATE inbox SET state = 'new' WHERE seq = ?", (seq,))
    connection.execute(
        "INSERT INTO rewinds (event, session, after, until, exchanges, at) VALUES (?, ?, ?, ?, 0, ?)",
        (f"{GIVEN_BACK}{row}", run.session, row - 1, row, now),
    )


def _begin(connection: Connection, run: Run, item: InboxItem, now: float, name: str) -> Run:
    """Record the start of the run in which another's words are answered. No crash is counted for it."""
    event = item.event
    reply_to = event.message_id or None if isinstance(event, MessageReceived) else None
    begun = Run(name, run.chat, run.session, event.sender.id, now, reply_to)
    connection.execute(
        "INSERT INTO runs (run, chat, session, person, started, reply_to, rested) VALUES (?, ?, ?, ?, ?, ?, 1)",
        (begun.id, str(begun.chat), begun.session, begun.person, begun.started, begun.reply_to),
    )
    return begun


def _move(connection: Connection, run: Run, to: Run, rows: Sequence[int]) -> None:
    """Let rows of the transcript, and the calls in them, belong to another run, which waits to be taken up."""
    connection.executemany("UPDATE transcript SET run = ? WHERE seq = ?", [(to.id, row) for row in rows])
    connection.execute(
        "UPDATE tool_calls SET run = ? WHERE run = ? AND message_id IN"
        " (SELECT json_extract(message, '$.id') FROM transcript WHERE run = ?)",
        (to.id, run.id, to.id),
    )
    connection.execute("INSERT INTO paused_runs (run, session, until) VALUES (?, ?, ?)", (to.id, to.session, max(rows)))
