"""The screen of runs: the newest of all chats, one run as a waterfall, and its replay."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from msgspec import Struct

from agent_core.clock import Clock
from agent_core.reasons import TerminalReason
from channels.base import ChatKey
from gateway.admin.insight import ChatNames, Insight
from gateway.admin.questions import asked_of, chat_of, place_of
from gateway.admin.screen import Group, NoSuchItem, View, Visit
from gateway.admin.story import Story, story_of
from gateway.permissions.question_text import one_line, what_is_done
from gateway.permissions.roles import Roles
from gateway.records.replay.lines import Manner, replayed
from gateway.records.replay.rebuild import in_order
from gateway.records.waterfall import Facts, Kind, Span, spans
from gateway.runs.run_buttons import RunButton
from gateway.settings.current import CurrentSettings
from gateway.store.archive import Archive
from gateway.store.rows import inbox_seqs
from gateway.store.run_records import Order, RunFilter, RunRecord
from gateway.store.store import Store
from gateway.texts.amounts import USD, Unit, amount_words

T = TypeVar("T")

PAGE = 50
"""Runs on one page of the list."""
STEPS = 200
"""Steps on one page of a waterfall."""
LINES = 2_000
"""Lines of a replay that are shown, the last ones."""
MOST_CHATS = 200
MOST_WORDS = 300
"""Characters of the arguments of a call."""
WIDTH = 1000
"""Of a bar, in units of its drawing."""
REPLAY = "replay"
RUNNING = "running"
SORTS: Mapping[str, Order] = {"": "newest", "cost": "dearest", "time": "longest"}
"""Orders of the list by their names in the address."""
MOST_ASKED = 2_000
"""Characters of the question on the page of a run."""
OUTCOMES = (RUNNING, *(each.value for each in TerminalReason))


class _Row(Struct, frozen=True):
    run: RunRecord
    chat: str
    link: str
    """Address of the conversation; empty if it is none of the visitor's."""
    person: str
    seconds: float | None
    cost: str
    asked: str
    """The question; empty if nothing is stored of it."""
    may_read: bool


class _Bar(Struct, frozen=True):
    """A span as it is drawn."""

    span: Span
    number: int
    after: float
    """Seconds since the beginning."""
    seconds: float
    left: int
    width: int
    cost: str
    words: str


class _Sum(Struct, frozen=True):
    kind: Kind
    count: int
    seconds: float


class RunsScreen:
    """Shows what Parley did, how long it took and what it cost."""

    name = "runs"
    group = Group.WORK
    icon = "activity"

    def __init__(
        self,
        store: Store,
        insight: Insight,
        roles: Roles,
        current: CurrentSettings,
        clock: Clock,
        home: Path,
        *,
        offered: Iterable[RunButton],
    ) -> None:
        """`offered` are the buttons about runs."""
        self._store = store
        self._insight = insight
        self._roles = roles
        self._current = current
        self._clock = clock
        self._home = home
        self._buttons = [each for each in offered if each.place == "page"]

    async def view(self, visit: Visit) -> View:
        """Return the list, or one run for `ID`, or its replay for `ID/replay`."""
        if not visit.item:
            return await self._list(visit)
        name, _, part = visit.item.partition("/")
        run = await self._store.run_records.find(name, None)
        if run is None or run.run != name or part not in ("", REPLAY):
            raise NoSuchItem
        return await (self._replay if part else self._one)(visit, run)

    async def _list(self, visit: Visit) -> View:
        query = visit.query
        page, day = _number(query.get("page", "")), _day(query.get("day", ""), self._current.zone)
        person = query.get("person", "").strip()
        wanted = RunFilter(
            chat=query.get("chat", "").strip(),
            accounts=self._roles.linked(person) if person else (),
            job=query.get("job", "").strip(),
            outcome=query.get("outcome", ""),
            since=day and day[0],
            until=day and day[1],
            order=SORTS.get(query.get("sort", ""), "newest"),
        )
        found = await self._store.run_records.listed(wanted, PAGE + 1, page * PAGE)
        chats = list(dict.fromkeys([*filter(None, [wanted.chat]), *await self._store.run_records.chats(MOST_CHATS)]))
        names = await self._names(visit, [*chats, *(each.chat for each in found[:PAGE])])
        kept = {key: query[key] for key in ("chat", "person", "job", "outcome", "day", "sort") if query.get(key)}
        facts = {
            "runs": await self._rows(found[:PAGE], names, visit),
            "sorts": {key: f"/admin/runs?{urlencode({**kept, 'sort': key})}" for key in SORTS},
            "chats": {key: names.of_whole(key) for key in chats},
            "outcomes": OUTCOMES,
            "query": {key: query.get(key, "") for key in ("chat", "person", "job", "outcome", "day", "sort")},
            "is_filtered": bool(kept),
            "earlier": f"/admin/runs?{urlencode({**kept, 'page': page + 1})}" if len(found) > PAGE else "",
            "later": f"/admin/runs?{urlencode({**kept, 'page': page - 1})}" if page else "",
        }
        return View("runs.html", facts)

    async def _rows(
        self, runs: Sequence[RunRecord], names: ChatNames, visit: Visit, most: int = MOST_WORDS
    ) -> list[_Row]:
        readable = [each for each in runs if self._insight.may_read(visit, chat_of(each), each.person)]
        asked = await asked_of(self._store, readable, most)
        return [
            _Row(
                each,
                chat=names.beside(each.chat, asked.get(each.run, "")),
                link=names.link_of(chat_of(each)),
                person=self._person(each),
                seconds=None if each.ended is None else each.ended - each.started,
                cost=amount_words(round(each.cost_usd * USD), Unit.USD, visit.language),
                asked=asked.get(each.run, ""),
                may_read=each.run in asked,
            )
            for each in runs
        ]

    async def _names(self, visit: Visit, chats: Iterable[str]) -> ChatNames:
        return self._insight.names(visit, await self._store.conversations.titles(chats))

    def _person(self, run: RunRecord) -> str:
        return self._insight.person(ChatKey.parse(run.chat), run.person)

    async def _one(self, visit: Visit, run: RunRecord) -> View:
        (row,) = await self._rows([run], await self._names(visit, [run.chat]), visit, MOST_ASKED)
        found, now = await self._spans(run), self._clock.time()
        page = _number(visit.query.get("page", ""))
        begin = min((each.begin for each in found), default=run.started)
        until = max((now if each.end is None else each.end for each in found), default=begin)
        first = page * STEPS
        shown = [
            _bar(number, each, (begin, max(until - begin, 0.001)), now, visit, may_read=row.may_read)
            for number, each in enumerate(found[first : first + STEPS], start=first + 1)
        ]
        pages = range(-(-len(found) // STEPS))
        facts = {
            "row": row,
            "story": await self._story(run, visit) if row.may_read else None,
            "place": await place_of(self._store, run, visit) if row.may_read else "",
            "answers": await self._answers(run, visit) if row.may_read else [],
            "bars": shown,
            "sums": _sums(found, now),
            "total": until - begin,
            "buttons": self._buttons,
            "page": page,
            "pages": [(each, each * STEPS + 1, min(len(found), (each + 1) * STEPS)) for each in pages],
            "width": WIDTH,
        }
        return View("run.html", facts)

    async def _answers(self, run: RunRecord, visit: Visit) -> list[_Row]:
        """Return all runs that answered the same words, to be compared; none if that is this one alone."""
        found = await self._store.run_records.answers(run)
        names = await self._names(visit, [])
        return await self._rows(found, names, visit) if len(found) > 1 else []

    async def _story(self, run: RunRecord, visit: Visit) -> Story:
        account = await self._store.run_records.account(run)
        return story_of(account, await self._store.transcript.messages_of(run.run), visit)

    async def _replay(self, visit: Visit, run: RunRecord) -> View:
        """Return the steps as `parley replay` shows them."""
        if not self._insight.may_read(visit, ChatKey.parse(run.chat), run.person):
            raise NoSuchItem
        manner = Manner(self._current.zone, full="full" in visit.query)
        lines = await asyncio.to_thread(self._read, lambda archive: _replayed(archive, run.run, manner))
        return View("run_replay.html", {"run": run, "lines": lines, "most": LINES, "is_full": manner.full})

    async def _spans(self, run: RunRecord) -> list[Span]:
        said = await self._store.transcript.messages_of(run.run, most=1)
        seqs = inbox_seqs([each.id for each in said])
        heard = await self._store.run_records.heard(seqs[0]) if seqs else None
        account = await self._store.run_records.account(run)
        questions = {each.id: each for each in account.questions}
        paid = await self._store.run_records.paid(run.run)
        facts = Facts(run, paid, account.sends, questions, heard.event.at if heard else None)
        return await asyncio.to_thread(self._read, lambda archive: _walked(archive, facts))

    def _read(self, reading: Callable[[Archive], T]) -> T:
        with Archive.open(self._home) as archive:
            return reading(archive)


def _walked(archive: Archive, facts: Facts) -> list[Span]:
    run = facts.run.run
    return spans(facts, in_order(archive.said_in(run), archive.steps(run)))


def _replayed(archive: Archive, run: str, manner: Manner) -> list[str]:
    (row,) = archive.find_runs(run)
    return list(replayed(archive, row, manner, last=LINES))


def _bar(number: int, span: Span, whole: tuple[float, float], now: float, visit: Visit, *, may_read: bool) -> _Bar:
    begin, total = whole
    seconds, after = span.seconds(now), span.begin - begin
    words = what_is_done(span.name, span.arguments) if span.arguments else span.words
    return _Bar(
        span,
        number=number,
        after=after,
        seconds=seconds,
        left=min(round(after / total * WIDTH), WIDTH - 4),
        width=max(4, round(seconds / total * WIDTH)),
        cost=amount_words(span.cost, Unit.USD, visit.language) if span.cost else "",
        words=one_line(words, MOST_WORDS) if may_read else "",
    )


def _sums(found: Sequence[Span], now: float) -> list[_Sum]:
    by_kind = {kind: [each.seconds(now) for each in found if each.kind is kind] for kind in Kind}
    return [_Sum(kind, len(seconds), sum(seconds)) for kind, seconds in by_kind.items() if seconds]


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else 0  # noqa: PLR2004


def _day(text: str, zone: ZoneInfo) -> tuple[float, float] | None:
    """Return the beginning of a day such as `2026-11-23` and that of the next one, or None for other texts."""
    try:
        begin = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=zone)
        following = (begin + timedelta(days=1)).replace(tzinfo=zone)
    except (ValueError, OverflowError):
        return None
    return begin.timestamp(), following.timestamp()
