"""What the people of a chat have sent and nobody has answered yet; in memory only, for the store has all of it too."""

from collections.abc import Iterator

from channels.base import MessageReceived, ScheduleFired, TaskEnded
from gateway.store.rows import InboxItem

_WORDS = "words"


class Mailbox:
    """Every item is in one of four places, and leaves when its words are in the transcript."""

    def __init__(self) -> None:
        self._held: dict[int, InboxItem] = {}
        """Behind a command that is being obeyed."""
        self._waiting: dict[int, InboxItem] = {}
        """For a run of their own."""
        self._arriving: dict[int, InboxItem] = {}
        """On the way to the running agent, files still being fetched."""
        self._given: dict[int, InboxItem] = {}
        """The running agent has them, and has not taken them in yet."""

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[InboxItem]:
        for place in self._places:
            yield from place.values()

    @property
    def has_waiting(self) -> bool:
        return bool(self._waiting)

    @property
    def has_arriving(self) -> bool:
        return bool(self._arriving)

    def has_waiting_from(self, sender: str) -> bool:
        """Words, that is."""
        return any(_kind(item) == (sender, _WORDS) for item in self._waiting.values())

    def hold(self, item: InboxItem) -> None:
        self._held[item.seq] = item

    def release(self) -> list[InboxItem]:
        """Takes out what was held, in order."""
        held, self._held = self._held, {}
        return list(held.values())

    def wait(self, item: InboxItem) -> None:
        self._waiting[item.seq] = item

    def take(self) -> list[InboxItem]:
        """Takes out the oldest item that waits, with what its sender has written since; the news of tasks apart."""
        oldest = _kind(self._waiting[min(self._waiting)])
        return [self._waiting.pop(seq) for seq in sorted(self._waiting) if _kind(self._waiting[seq]) == oldest]

    def take_notes(self) -> list[InboxItem]:
        """Takes out what was said unasked and is to be noted, in order."""
        seqs = [seq for seq, item in sorted(self._waiting.items()) if isinstance(item.event, ScheduleFired)]
        return [self._waiting.pop(seq) for seq in seqs]

    def arrive(self, item: InboxItem) -> None:
        self._arriving[item.seq] = item

    def arriving(self, seq: int) -> InboxItem | None:
        """The item as it reads now, or None where it was dropped on the way."""
        return self._arriving.get(seq)

    def arrived(self, seq: int) -> None:
        self._arriving.pop(seq, None)

    def give(self, item: InboxItem) -> None:
        self._given[item.seq] = item

    def is_given(self, item: InboxItem) -> bool:
        return item.seq in self._given

    def taken(self, seq: int) -> None:
        """The agent has taken it in."""
        self._given.pop(seq, None)

    def take_back(self) -> None:
        """The run is over: what it was given and did not take waits for the next."""
        self._waiting |= self._given
        self._given = {}

    def drop(self, sender: str, *, with_given: bool) -> list[InboxItem]:
        """Takes out what somebody sent and is not to be answered any more; `with_given`, also all that the running
        agent has, for the run is theirs to stop. What came by itself stays: nobody knows of it yet."""
        mine = [item for place in (self._waiting, self._arriving) for item in place.values()]
        gone = [item for item in mine if _kind(item) == (sender, _WORDS)]
        gone.extend(self._given.values() if with_given else ())
        for item in gone:
            for place in self._places:
                place.pop(item.seq, None)
        return gone

    def find(self, platform_id: str) -> InboxItem | None:
        """The message with the platform's id, if it is here."""
        for item in self:
            if isinstance(item.event, MessageReceived) and item.event.message_id == platform_id:
                return item
        return None

    def replace(self, reworded: InboxItem) -> None:
        """Put it in the place of the item with its number, wherever that is."""
        for place in self._places:
            if reworded.seq in place:
                place[reworded.seq] = reworded

    @property
    def _places(self) -> tuple[dict[int, InboxItem], ...]:
        return self._held, self._waiting, self._arriving, self._given


def _kind(item: InboxItem) -> tuple[str, str]:
    """Whose it is, and whether they said it or it came by itself."""
    came = isinstance(item.event, TaskEnded | ScheduleFired)
    return item.event.sender.id, item.event.type if came else _WORDS
