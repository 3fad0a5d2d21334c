"""Does what chats are owed: durable work that follows an answer, at its end, after a restart and after a take-over.

What is owed is written in the transaction that ends a run, and removed in the one that queues the messages that do it.
So nothing is lost in a crash, and nothing is sent twice. Kinds of such work are registered by name; what is of a kind
that nobody has registered stays as it is.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from functools import partial

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent_core.background import Background
from agent_core.clock import Clock
from agent_core.log_errors import Contained
from channels.base import ChannelError, ChatKey
from gateway.delivery.delivery import Arrival, Delivery
from gateway.delivery.sending import Right
from gateway.errors import is_machine_trouble
from gateway.runs.errands import Errand, Errands
from gateway.runs.handles import Handles
from gateway.store.connection import Connection, Fenced, Rows, Work
from gateway.store.owed import Owed, Owes, nothing_owed
from gateway.store.rows import Post, PostState, Run, RunEnd
from gateway.store.store import Store
from gateway.store.writer import STORE_ERRORS, may_pass

PAUSES = (1.0, 10.0, 60.0, 600.0)
"""Seconds to wait after each failed attempt; the last one repeats."""
MOST_ATTEMPTS = 10
_OVER = PostState.SENT, PostState.FAILED

Doer = Callable[[Owed], Awaitable[Sequence[Post] | Errand]]
"""Does what is owed, and returns posts for its chat, which are queued in the transaction that removes it.

What an agent has to do for that is an errand, which it returns instead: its `then` makes the posts.
"""
Ended = Callable[[Run, RunEnd, Connection], Iterable[Owed]]
"""Returns what is owed at the end of a run, in the transaction that ends it."""
Sent = Callable[[Post, Connection], Iterable[Owed]]
"""Returns what is owed for a message that has arrived, in the transaction that records it."""
GivenUp = Callable[[Owed, Exception | None], None]
"""Tells of what was given up, and of the error that its last attempt raised; None: the program died each time."""

log = structlog.get_logger(__name__)


class Kinds(Struct, frozen=True):
    """The kinds of one owner, such as a plugin."""

    name: str
    doers: Mapping[str, Doer]
    ended: Ended | None = None
    sent: Sent | None = None


class OwedWork:
    """Does what is owed, of all kinds, each beside whatever comes next in its chat."""

    def __init__(self, store: Store, delivery: Delivery, clock: Clock, given_up: GivenUp) -> None:
        self._store = store
        self._delivery = delivery
        self._clock = clock
        self._given_up = given_up
        self._handles = Handles(clock, "what is owed")
        self.errands: Errands | None = None
        """Does the errands that doers return; set before anything runs."""
        self._doers: dict[str, Doer] = {}
        self.by_owner: dict[str, Sequence[str]] = {}
        """The names of the kinds, by the names of those that have registered them."""
        self._asked: list[Kinds] = []
        """Those that are asked at the end of each run."""
        self._told: list[Kinds] = []
        """Those that are told of each message that has arrived."""
        self._doing: dict[tuple[str, str], tuple[ChatKey, asyncio.Task[None]]] = {}
        self._waiting: dict[tuple[str, str], Owed] = {}
        """Items that wait for messages of their runs."""
        self._background = Background("what is owed was not done")
        delivery.delivered = self._delivered
        delivery.arriving = self.at_arrival

    def register(self, kinds: Kinds) -> None:
        """Add kinds, before anything runs. Raises ValueError if one is there already."""
        if there := sorted(self._doers.keys() & kinds.doers.keys()):
            raise ValueError(f"what is owed of the kind {there[0]} is done already")
        self._doers.update(kinds.doers)
        self.by_owner[kinds.name] = tuple(kinds.doers)
        if kinds.ended is not None:
            self._asked.append(kinds)
        if kinds.sent is not None:
            self._told.append(kinds)

    @property
    def kinds(self) -> Set[str]:
        """The kinds that this process does."""
        return self._doers.keys()

    def at_end(self, run: Run, how: RunEnd) -> Owes:
        """Return what asks all owners of kinds what is owed, in the transaction that ends a run."""
        if not self._asked:
            return nothing_owed

        def owes(connection: Connection) -> Sequence[Owed]:
            found: list[Owed] = []
            for kinds in self._asked:
                found += _owed_by(kinds, "ended", partial(_at_end, kinds, run, how), connection)
            return found

        return owes

    def at_arrival(self, post: Post) -> Arrival | None:
        """Return what asks all owners of kinds what is owed for a message, in the transaction that records it."""
        if not self._told:
            return None
        items: list[Owed] = []

        def owes(connection: Connection) -> Sequence[Owed]:
            found: list[Owed] = []
            for kinds in self._told:
                found += _owed_by(kinds, "sent", partial(_at_arrival, kinds, post), connection)
            return found

        record = self._store.owed.recording(owes)

        def recorded(connection: Connection) -> None:
            items[:] = record(connection)

        return Arrival(recorded, lambda: self.begin(items))

    async def add(self, change: Owes) -> Sequence[Owed]:
        """Make a change, and record what it returns as owed, in one transaction. It is begun at once.

        Raises ValueError, and writes nothing, for a kind that nobody does.
        """

        def owes(connection: Connection) -> Sequence[Owed]:
            items = tuple(change(connection))
            if unknown := [item.kind for item in items if item.kind not in self._doers]:
                raise ValueError(f"nobody does what is owed of the kind {unknown[0]}")
            return items

        items = await self._store.owed.add(owes)
        for chat in dict.fromkeys(item.chat for item in items if self._delivery.knows(item.chat)):
            self._background.start(self._begin_here([item for item in items if item.chat == chat]), f"begin in {chat}")
        return items

    async def told(self, key: str) -> None:
        """Begin what another node has recorded for chats of this one. An empty key is for all of them."""
        chat = ChatKey.parse(key) if key else None
        if chat is None or self._delivery.sending.owns(chat):
            self.begin(each for each in await self._ready(chat) if self._delivery.sending.keeps(each.chat))

    def begin(self, items: Iterable[Owed]) -> None:
        """Do what is owed, beside whatever comes next."""
        for item in items:
            known = item.kind, item.key
            if item.kind in self._doers and known not in self._doing:
                doing = self._background.start(self._do(item), f"{item.kind} {item.key}")
                self._doing[known] = item.chat, doing
                doing.add_done_callback(partial(self._over, known))

    async def resume(self, chat: ChatKey | None = None) -> None:
        """Do what the previous process left, in a chat or in all that can be reached.

        What follows messages that are still unsent waits until they were sent or given up.
        """
        await self._take_up(await self._ready(chat))

    async def follow(self, chat: ChatKey, runs: Set[str]) -> None:
        """Do what a chat is owed by runs of another process, of which this one has sent messages."""
        await self._take_up(each for each in await self._ready(chat) if each.run in runs)

    def are_in(self, chat: ChatKey) -> bool:
        """Return True while something is done in a chat."""
        return any(chat == where for where, _ in self._doing.values())

    async def settled(self) -> None:
        """Wait until everything is done."""
        await self._background.join()

    async def close_in(self, chat: ChatKey) -> None:
        """Cancel what is done in a chat, for another process to do."""
        self._waiting = {known: item for known, item in self._waiting.items() if item.chat != chat}
        if open_ones := [doing for where, doing in self._doing.values() if where == chat]:
            for doing in open_ones:
                doing.cancel()
            await asyncio.wait(open_ones)

    async def close(self) -> None:
        """Cancel everything, to be done after the next start."""
        await self._background.stop()

    # Internals

    async def _begin_here(self, items: Sequence[Owed]) -> None:
        """Begin what a chat is owed, unless another process works on it, which hears of it."""
        sending, chat = self._delivery.sending, items[0].chat
        if await sending.right(chat) is not Right.REMOTE and sending.keeps(chat):
            self.begin(items)

    def _over(self, known: tuple[str, str], _: "asyncio.Task[None]") -> None:
        del self._doing[known]

    def _delivered(self, runs: Set[str]) -> None:
        """Do what waits for messages of these runs."""
        if again := {known for known, item in self._waiting.items() if item.run in runs}:
            for known in again:
                del self._waiting[known]
            self._background.start(self._go_on(again), "what waited for messages")

    async def _go_on(self, waited: Set[tuple[str, str]]) -> None:
        await self._take_up(each for each in await self._ready() if (each.kind, each.key) in waited)

    async def _ready(self, chat: ChatKey | None = None) -> Sequence[Owed]:
        """Return what is left, except what follows messages that are still unsent."""
        left = await self._store.owed.left(chat)
        self._waiting |= {(each.kind, each.key): each for each in left}  # before it is read what is unsent
        unsent = {post.run for post in await self._store.outbox.unsent(chat) if not post.is_progress}
        ready = [each for each in left if each.run not in unsent]
        for each in ready:
            self._waiting.pop((each.kind, each.key), None)
        return ready

    async def _take_up(self, items: Iterable[Owed]) -> None:
        """Begin what another process may have died of, so that it is not done for ever."""
        found = [
            replace(each, attempts=each.attempts + 1)
            for each in items
            if each.kind in self._doers and (each.kind, each.key) not in self._doing
        ]
        reached = [each for each in found if self._delivery.knows(each.chat)]
        if reached:
            await self._store.owed.tried(reached)
        for item in reached:
            if item.attempts > MOST_ATTEMPTS:
                await self._give_up(item, None)
            else:
                self.begin([item])

    async def _do(self, item: Owed) -> None:
        left: Owed | None = item
        while left is not None:
            await self._clock.sleep(max(0.0, left.due - self._clock.time()))
            if left.run and await self._waits(left):
                return
            left = await self._tried(left)

    async def _waits(self, item: Owed) -> bool:
        """Return True if messages of its run are unsent: `_delivered` begins it again."""
        known = item.kind, item.key
        while True:
            self._waiting[known] = item
            posts = await self._store.outbox.of_run(item.run)
            if all(post.state in _OVER or post.is_progress for post in posts):
                self._waiting.pop(known, None)
                return False
            if known in self._waiting:  # none was sent while they were read
                return True

    async def _tried(self, item: Owed) -> Owed | None:
        """Make one attempt. Return what is left to do."""
        work, posts, is_new = f"{item.kind} {item.key}", list[Post](), False
        with Contained("what is owed could not be done", name=work) as contained:
            done = await self._handles.until_done(work, partial(self._doers[item.kind], item))
            told, also = await self._carried_out(item, done) if isinstance(done, Errand) else (done, None)
            posts += told
            if any(post.chat != item.chat for post in posts):
                raise ValueError(f"{work} is owed to {item.chat}, and has messages for another chat")
            is_new = await self._store.owed.done(item, posts, also)
        if contained.error is not None:
            return await self._failed(item, contained.error)
        if is_new and posts:
            await self._delivery.deliver(item.chat, posts)
        return None

    async def _carried_out(self, item: Owed, errand: Errand) -> tuple[Sequence[Post], Work[None] | None]:
        """Do an errand. Return the messages of its report, and what records the end of its run.

        Where it had to wait for others, its doer says anew what is to be done, as that may have changed.
        """
        if self.errands is None:
            raise RuntimeError("nothing does errands yet")
        async with self.errands.room(errand) as has_waited:
            todo = await self._doers[item.kind](item) if has_waited else errand
            if not isinstance(todo, Errand):
                return todo, None
            done = await self.errands.done(todo)
        return await todo.then(done.report), done.recorded

    async def _failed(self, item: Owed, error: Exception) -> Owed | None:
        is_of_machine = is_machine_trouble(error) or isinstance(error, STORE_ERRORS)
        attempts = item.attempts + (not is_of_machine)
        if attempts >= MOST_ATTEMPTS:
            await self._give_up(item, error)
            return None
        pause = PAUSES[min(max(attempts - 1, 0), len(PAUSES) - 1)]
        if isinstance(error, ChannelError) and error.retry_after is not None:
            pause = max(pause, error.retry_after)
        log.info("what is owed is tried again", kind=item.kind, key=item.key, seconds=pause)
        left = replace(item, attempts=attempts, due=self._clock.time() + pause)
        if not is_of_machine:
            await self._store.owed.tried([left])
        return left

    async def _give_up(self, item: Owed, error: Exception | None) -> None:
        log.error("what is owed was given up", kind=item.kind, key=item.key, chat=str(item.chat), exc_info=error)
        if await self._store.owed.done(item):
            self._given_up(item, error)


def _at_end(kinds: Kinds, run: Run, how: RunEnd, connection: Connection) -> Sequence[Owed]:
    found = kinds.ended(run, how, connection) if kinds.ended is not None else ()
    return _done_by(kinds, found, run.chat, run.id)


def _at_arrival(kinds: Kinds, post: Post, connection: Connection) -> Sequence[Owed]:
    found = kinds.sent(post, connection) if kinds.sent is not None else ()
    return _done_by(kinds, found, post.chat, "")


def _done_by(kinds: Kinds, items: Iterable[Owed], chat: ChatKey, run: str) -> Sequence[Owed]:
    """Return what is owed by a run. Raises ValueError for what the owner does not do, or owes to another chat."""
    found: list[Owed] = []
    for item in items:
        if item.kind not in kinds.doers or item.chat != chat:
            raise ValueError(f"nobody does {item.kind} {item.key} for {item.chat}, as it is owed in {chat}")
        found.append(replace(item, run=run))
    return found


def _owed_by(
    kinds: Kinds, where: str, ask: Callable[[Connection], Sequence[Owed]], connection: Connection
) -> Sequence[Owed]:
    """Ask one owner of kinds. If that fails, what it wrote is undone, and it counts as nothing."""
    asked = _Undoable(connection)
    try:
        found = ask(asked)
    except Exception as error:
        log.exception("a plugin failed", plugin=kinds.name, where=where)
        if isinstance(error, Fenced) or may_pass(error):  # the whole transaction is made again
            raise
        asked.undo()
        return ()
    asked.keep()
    return found


class _Undoable:
    """A connection whose statements can be undone without the transaction that they are in."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._is_used = False

    @property
    def in_transaction(self) -> bool:
        """See `Connection`."""
        return self._connection.in_transaction

    def execute(self, statement: str, values: object = (), /) -> Rows:
        """See `Connection`."""
        self._use()
        return self._connection.execute(statement, values)

    def executemany(self, statement: str, values: Iterable[object], /) -> Rows:
        """See `Connection`."""
        self._use()
        return self._connection.executemany(statement, values)

    def keep(self) -> None:
        """Keep what was written."""
        if self._is_used:
            self._connection.execute("RELEASE SAVEPOINT asked")

    def undo(self) -> None:
        """Undo what was written."""
        if self._is_used:
            self._connection.execute("ROLLBACK TO SAVEPOINT asked")
            self.keep()

    def _use(self) -> None:
        if not self._is_used:
            self._connection.execute("SAVEPOINT asked")
            self._is_used = True
