"""A chat's unanswered messages, held in memory; all of them are in the store too."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from channels.base import MessageReceived, ScheduleFired, TaskEnded
from gateway.chat.holds import Hold, Holds
from gateway.chat.places import Moved, Place
from gateway.chat.run_pace import account_of
from gateway.store.rows import InboxItem, inbox_seqs

_WORDS = "words"


class Mailbox:
    """Holds each item in one of five places until its text is in the transcript."""

    def __init__(
        self,
        waiting: Counter[str] | None = None,
        holds: Holds | None = None,
        moved: Sequence[Moved] = (),
    ) -> None:
        """Create an empty mailbox.

        Args:
            waiting: Counts the messages in all mailboxes by account.
            holds: Tell why items wait that could begin a run.
            moved: Those that are told of the place of each item, which may change.
        """
        self._moved = moved
        self.holds = Holds() if holds is None else holds
        self._count: Counter[str] = Counter() if waiting is None else waiting
        self._next_ticket = count()
        self._tickets: dict[int, int] = {}
        """Order in which items are to be answered. It differs from their numbers if one was received late."""
        self._above: dict[int, InboxItem] = {}
        """Items newer than a history gap that has not been read yet."""
        self._held: dict[int, InboxItem] = {}
        """Items held behind commands in progress."""
        self._behind: dict[int, int] = {}
        """The number of the last of those commands, by the number of the held item."""
        self._waiting: dict[int, InboxItem] = {}
        """Items waiting for a run of their own."""
        self._arriving: dict[int, InboxItem] = {}
        """Items on their way to the running agent, with files being fetched."""
        self._given: dict[int, InboxItem] = {}
        """Items given to the running agent that it has not taken in yet."""
        self._places = (self._above, self._held, self._waiting, self._arriving, self._given)
        self._passed: set[int] = set()
        """Waiting items before which one of somebody else was put."""

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[InboxItem]:
        for place in self._places:
            yield from place.values()

    @property
    def has_waiting(self) -> bool:
        """True if items wait for a run that may begin, now or at a time that is known."""
        return bool(self._waiting) and any(self.holds.on_message(item) is None for item in self._waiting.values())

    @property
    def has_arriving(self) -> bool:
        return bool(self._arriving)

    @property
    def has_above(self) -> bool:
        """True if items wait for a gap to be read."""
        return bool(self._above)

    def has_waiting_from(self, sender: str) -> bool:
        """Return True if messages from the sender wait for a run."""
        return any(_kind(item) == (sender, _WORDS) for item in self._waiting.values())

    def waiting(self, until: float) -> list[InboxItem]:
        """Return users' messages that no run has taken, oldest first.

        Messages held behind a command are among them if they were sent until then.
        """
        places = (self._above, self._waiting, self._arriving)
        found = [item for place in places for item in place.values()]
        found.extend(item for item in self._held.values() if item.event.at <= until)
        return sorted((item for item in found if _kind(item)[1] == _WORDS), key=lambda item: item.seq)

    def stand_above(self, item: InboxItem) -> None:
        """Hold the item until the gap before it has been read."""
        self._put(self._above, item)

    def take_above(self) -> list[InboxItem]:
        """Remove and return the items that waited for a gap, by the time they were sent."""
        return self._empty(self._above)

    def hold(self, item: InboxItem, command: int) -> None:
        """Hold an item until all commands up to this number are over.

        It waits no longer than items that were sent after it, nor than when it was held before.
        """
        later = (self._behind[seq] for seq, held in self._held.items() if _sent(held) > _sent(item))
        self._behind[item.seq] = min((command, self._behind.get(item.seq, command), *later))
        self._put(self._held, item)

    def unhold(self, seq: int) -> InboxItem | None:
        """Remove and return a held item in its latest version."""
        item = self._held.get(seq)
        if item is not None:
            self._remove(seq)
            self._tell(item, Place.OUT)
        return item

    def release(self, over: int) -> list[InboxItem]:
        """Remove and return the items held behind commands up to this number, by the time they were sent: some may
        have been read from a history."""
        due = {seq: item for seq, item in self._held.items() if self._behind[seq] <= over}
        self._behind = {seq: command for seq, command in self._behind.items() if command > over}
        return self._empty(due)

    def wait(self, item: InboxItem, *, is_first: bool = False) -> None:
        """Let an item wait for a run; `is_first`: before all others.

        It waits its turn if somebody else among them was passed before: who edits a message again and again would
        otherwise keep everybody else waiting.
        """
        others = {seq for seq, each in self._waiting.items() if each.event.sender.id != item.event.sender.id}
        self._put(self._waiting, item)
        if is_first and self._passed.isdisjoint(others):
            self._passed |= others
            self._tickets[item.seq] = min(self._tickets.values()) - 1
            self._sort_waiting()

    def turns(self) -> list[list[InboxItem]]:
        """Return the waiting items grouped into future runs, oldest first.

        A group holds one sender's messages, as they were sent, since they may have come in by several nodes in another
        order; reports of tasks form groups of their own.
        """
        found: dict[tuple[str, str], list[InboxItem]] = {}
        for item in self._waiting.values():
            found.setdefault(_kind(item), []).append(item)
        return [_as_sent(group) if len(group) > 1 else group for group in found.values()]

    def next_turn(self) -> tuple[Sequence[InboxItem], Hold | None]:
        """Remove and return the items of the first run that may begin; while one user waits, others do not.

        If none may, the hold is returned that is over first, unless nothing waits.
        """
        holds: list[Hold] = []
        for items in self.turns():
            hold = self.holds.on_run(items)
            if hold is None:
                self.take(items, Place.BEGINS)
                return items, None
            holds.append(hold)
        return (), min(holds, key=lambda hold: hold.until, default=None)

    def take(self, turn: Sequence[InboxItem], place: Place = Place.OUT) -> None:
        """Remove the items of one turn, which have another place now."""
        for item in turn:
            self._remove(item.seq)
            self._tell(item, place)

    def take_words(self, sender: str) -> list[InboxItem]:
        """Remove and return the messages of a sender that wait for a run, as they were sent."""
        words = _as_sent([item for item in self._waiting.values() if _kind(item) == (sender, _WORDS)])
        self.take(words)
        return words

    def take_notes(self) -> list[InboxItem]:
        """Remove and return the messages posted by jobs, in order."""
        notes = [item for item in self._waiting.values() if isinstance(item.event, ScheduleFired)]
        if notes:
            self.take(notes)
        return notes

    def arrive(self, item: InboxItem) -> None:
        self._put(self._arriving, item)

    def arriving(self, seq: int) -> InboxItem | None:
        """Return the latest version of the item, or None if it was dropped."""
        return self._arriving.get(seq)

    def arrived(self, seq: int) -> None:
        if seq in self._arriving:
            self._remove(seq)

    def take_late(self, seq: int) -> list[InboxItem]:
        """Remove and return an item that did not reach the agent, and those of its sender that were to follow it."""
        late = self._arriving.get(seq)
        found = [each for each in self._arriving.values() if late and each.event.sender.id == late.event.sender.id]
        for each in found:
            self._remove(each.seq)
        return found

    def give(self, item: InboxItem) -> None:
        self._put(self._given, item)

    def is_given(self, item: InboxItem) -> bool:
        return item.seq in self._given

    def taken(self, message_id: str) -> None:
        """Remove the item of a message that the agent has taken in."""
        if self._given:
            for seq in inbox_seqs([message_id]):
                if seq in self._given:
                    self._remove(seq)

    def take_back(self) -> None:
        """Return items that the ended run did not take in to the waiting ones, in their order."""
        if self._given:
            for item in self._given.values():
                self._tell(item, Place.WAITS)
            self._waiting.update(self._given)
            self._given.clear()
            self._sort_waiting()

    def drop(self, sender: str, *, with_given: bool) -> list[InboxItem]:
        """Remove and return a sender's messages that are not to be answered any more.

        `with_given` also removes everything given to the running agent, for a sender who stops the run. Reports of
        tasks and jobs stay, since no user has seen them yet.
        """
        mine = [item for place in (self._above, self._waiting, self._arriving) for item in place.values()]
        gone = [item for item in mine if _kind(item) == (sender, _WORDS)]
        gone.extend(self._given.values() if with_given else ())
        for item in gone:
            self._remove(item.seq)
            self._tell(item, Place.OUT)
        return gone

    def expel(self, is_out: Callable[[str], bool]) -> list[InboxItem]:
        """Remove and return what waits for users who may no longer speak, also reports of their tasks.

        Messages posted by jobs stay.
        """
        gone = [item for item in self if is_out(item.event.sender.id) and not isinstance(item.event, ScheduleFired)]
        for item in gone:
            self._remove(item.seq)
            self._tell(item, Place.OUT)
        return gone

    def find(self, platform_id: str) -> InboxItem | None:
        """Return the message with the platform's id, or None; not one to be answered again, which may join several."""
        for item in self:
            if isinstance(item.event, MessageReceived) and item.event.message_id == platform_id and not item.is_again:
                return item
        return None

    def replace(self, reworded: InboxItem) -> None:
        """Replace the item of the same number, wherever it is."""
        for place in self._places:
            if reworded.seq in place:
                place[reworded.seq] = reworded

    def _sort_waiting(self) -> None:
        ordered = sorted(self._waiting.items(), key=lambda pair: self._tickets[pair[0]])
        self._waiting.clear()
        self._waiting.update(ordered)

    def _put(self, place: dict[int, InboxItem], item: InboxItem) -> None:
        place[item.seq] = item
        self.holds.changed.set()
        self._tickets[item.seq] = next(self._next_ticket)
        self._tell(item, Place.STEERS if place is self._given else Place.WAITS)
        if _kind(item)[1] == _WORDS:
            self._count[account_of(item.event.chat, item.event.sender)] += 1

    def _tell(self, item: InboxItem, place: Place) -> None:
        for moved in self._moved:
            moved(item, place)

    def _empty(self, place: Mapping[int, InboxItem]) -> list[InboxItem]:
        items = sorted(place.values(), key=_sent)
        for item in items:
            self._remove(item.seq)
        return items

    def _remove(self, seq: int) -> None:
        item = next(found for place in self._places if (found := place.pop(seq, None)))
        del self._tickets[seq]
        self._passed.discard(seq)
        self.holds.changed.set()
        if _kind(item)[1] == _WORDS:
            account = account_of(item.event.chat, item.event.sender)
            self._count[account] -= 1
            if not self._count[account]:
                del self._count[account]


def _sent(item: InboxItem) -> tuple[float, int]:
    return item.event.at, item.seq


def _as_sent(items: Sequence[InboxItem]) -> list[InboxItem]:
    """Return items in the order in which they were sent, after those that are answered again."""
    return sorted(items, key=lambda item: (not item.is_again, item.event.at))


def _kind(item: InboxItem) -> tuple[str, str]:
    """Return the sender and the kind: text for messages, else the event's type."""
    came = isinstance(item.event, TaskEnded | ScheduleFired)
    return item.event.sender.id, item.event.type if came else _WORDS
