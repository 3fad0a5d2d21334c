"""The store keeps jobs as given, changes related rows in one transaction, and masks secrets."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from agent_core.origin import CLEAN, NOT_KNOWN
from agent_core.reasons import TerminalReason
from channels.base import ChatKey, MessageReceived, OutboundMessage, ScheduleFired, Sender
from gateway.security.secrets import Secrets
from gateway.store.job import (
    CheckIn,
    DeliveryState,
    Firing,
    FiringState,
    Heartbeat,
    Job,
    JobState,
    Pause,
    Reaction,
    Reminder,
    Report,
    firing_name,
)
from gateway.store.jobs import Advance
from gateway.store.rows import Post, Run, RunEnd
from gateway.store.rule import Cron, Every, Once
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.gateway.jobs.kit import ANN, TEAM, a_job
from tests.postgres import execute

SECRET = "hunter2-of-the-gateway"  # noqa: S105
LATER = 2_000_000_000.0
FIRING = Firing("abc123", "2026-11-23T08:00:00Z", "f00001", ANN, 1_000.0, origin=CLEAN)
RUN = Run("job-abc123-1", ANN, "job-abc123-1", "ann", 1_000.0)
END = RunEnd(TerminalReason.COMPLETED, "scripted")


@pytest.fixture
async def store(tmp_path: Path, database: str | None) -> AsyncIterator[Store]:
    async with Store.open(tmp_path, FakeClock(), numbered(), Secrets([SECRET]), url=database) as store:
        yield store


def post(key: str, text: str = "Good morning.") -> Post:
    return Post(key, "job-abc123-1", ANN, OutboundMessage(markdown=text), origin=CLEAN)


def ids(found: Sequence[Job] | Sequence[Firing]) -> list[str]:
    return [each.id for each in found]


# Jobs


@pytest.mark.parametrize(
    "job",
    [
        a_job("call mum", Once(at=LATER), pause=Pause.UNDELIVERABLE, state=JobState.PAUSED, origin=NOT_KNOWN),
        a_job(
            Report(instructions="look", skill="daily-report"),
            Every(seconds=90, since=0.25),
            scripts=("a", "b"),
            given=("a.example/b",),
        ),
        a_job(CheckIn(), failures=2, told_cause="timeout", told_at=5.5, grace=0.0, instead_of="def456"),
        a_job(Reminder(text="到时间了"), Cron(expression="*/5 8-18 * * 1-5"), chat=TEAM, next_at=None),
    ],
)
async def test_a_job_comes_back_as_it_was(store: Store, job: Job) -> None:
    assert await store.jobs.add(job)

    assert await store.jobs.find(job.id) == job


async def test_a_job_that_is_paused_is_known_of_at_once(store: Store) -> None:
    job = a_job("call mum", Once(at=LATER))
    assert await store.jobs.paused(ANN) == []
    await store.jobs.add(job)
    assert await store.jobs.paused(ANN) == []

    await store.jobs.change(job.id, lambda job: replace(job, state=JobState.PAUSED, pause=Pause.UNDELIVERABLE))

    assert ids(await store.jobs.paused(ANN)) == [job.id]
    assert await store.jobs.paused(TEAM) == []


async def test_an_id_is_given_once(store: Store) -> None:
    assert await store.jobs.add(a_job("first"))
    assert not await store.jobs.add(a_job("second"))

    assert await store.jobs.find("abc123") == a_job("first")


async def test_a_chat_has_those_that_were_not_removed(store: Store) -> None:
    """The oldest job comes first."""
    for job in (
        a_job("x", name="second", created="2026-11-23 08:30"),
        a_job("x", name="first1"),
        a_job("x", name="gone11", state=JobState.REMOVED),
        a_job("x", name="pause1", state=JobState.PAUSED, created="2026-11-23 09:30"),
        a_job("x", name="other1", chat=TEAM),
        a_job("x", name="over11", state=JobState.DONE, next_at=None, created="2026-11-23 09:40"),
    ):
        await store.jobs.add(job)

    assert ids(await store.jobs.in_chat(ANN)) == ["first1", "second", "pause1", "over11"]
    assert ids(await store.jobs.planned(ANN)) == ["first1", "second", "pause1"]
    assert await store.jobs.active_count(ANN) == 2
    assert ids(await store.jobs.active()) == ["first1", "other1", "second"]


async def test_the_longest_due_come_first_and_no_more_than_wanted(store: Store) -> None:
    for number in (3, 1, 2, 5):
        await store.jobs.add(a_job("x", name=f"at{number}", next_at=float(number)))

    assert ids(await store.jobs.due(4.0, 2, ["memory"])) == ["at1", "at2"]
    assert await store.jobs.due(4.0, 2, ["telegram"]) == []
    assert await store.jobs.next_due(3.0) == 5.0
    assert await store.jobs.next_due(5.0) is None


async def test_a_job_moves_on_only_from_where_it_was_seen(store: Store) -> None:
    await store.jobs.add(a_job("x", next_at=1.0))

    await store.jobs.advance([Advance("abc123", 1.0, 2.5), Advance("abc123", 1.0, 9.0)])
    moved = await store.jobs.find("abc123")
    await store.jobs.advance([Advance("abc123", 2.5, None)])
    done = await store.jobs.find("abc123")

    assert moved is not None
    assert (moved.next_at, moved.state) == (2.5, JobState.ACTIVE)
    assert done is not None
    assert (done.next_at, done.state) == (None, JobState.DONE)


async def test_changes_made_at_once_all_count(store: Store) -> None:
    await store.jobs.add(a_job("x"))

    def fails(job: Job) -> Job:
        return replace(job, failures=job.failures + 1)

    await asyncio.gather(*(store.jobs.change("abc123", fails) for _ in range(20)))

    found = await store.jobs.find("abc123")
    assert found is not None
    assert found.failures == 20
    assert await store.jobs.change("nobody", fails) is None


@pytest.mark.parametrize("column", ["rule", "work", "chat", "scripts"])
async def test_a_row_that_cannot_be_read_hides_no_other(
    store: Store, tmp_path: Path, database: str | None, column: str
) -> None:
    """The broken row does not count towards the limit of due jobs either."""
    await store.jobs.add(a_job("x", name="broken", next_at=1.0))
    await store.jobs.add(a_job("y", name="whole1", next_at=2.0))
    broken = {"chat": "memory", "scripts": "["}.get(column, '{"type": "of tomorrow"}')
    execute(tmp_path, database, f"UPDATE jobs SET {column} = '{broken}' WHERE id = 'broken'")  # noqa: S608

    assert ids(await store.jobs.due(4.0, 1, ["memory"])) == ["whole1"]
    assert ids(await store.jobs.active()) == ["whole1"]
    assert await store.jobs.find("broken") is None
    assert await store.jobs.change("broken", lambda job: job) is None


# Firings


async def test_a_firing_comes_back_as_it_was(store: Store) -> None:
    whole = replace(
        FIRING,
        state=FiringState.DONE,
        began=1.5,
        ended=2.5,
        run="job-abc123-1",
        text="到时间了",
        origin=NOT_KNOWN,
        error="e",
        cause="timeout",
        tokens=7,
        cost_usd=0.25,
        delivery=DeliveryState.SENT,
        delivery_error="d",
        reaction=Reaction.LESS,
    )

    assert await store.firings.begin(whole) == whole

    assert await store.firings.find("abc123", FIRING.slot) == await store.firings.by_id("f00001") == whole


async def test_a_slot_begins_once(store: Store) -> None:
    """A second caller gets the first firing; an id used by another firing is refused."""
    assert await store.firings.begin(FIRING) == FIRING
    assert await store.firings.begin(replace(FIRING, id="f00002")) == FIRING
    assert await store.firings.begin(replace(FIRING, slot="run:1")) is None


async def test_what_became_of_it_and_what_is_said_of_it_are_one_step(store: Store) -> None:
    """The run ends in the same transaction, and only the firing resumes it."""
    await store.firings.begin(FIRING)
    assert [await store.runs.begin_apart(RUN), await store.runs.begin_apart(RUN)] == [True, False]
    assert await store.runs.unfinished() == []
    assert await store.runs.open_ids() == {RUN.id}

    done = replace(FIRING, state=FiringState.DONE, run=RUN.id, text="Good morning.", delivery=DeliveryState.PENDING)
    await store.firings.end([done], [post("k:proactive:0")], END)

    assert await store.firings.by_id("f00001") == done
    assert [each.key for each in await store.outbox.unsent()] == ["k:proactive:0"]
    assert await store.runs.open_ids() == set()


async def test_a_step_is_taken_with_a_firing_as_it_is_now(store: Store) -> None:
    await store.firings.begin(FIRING)

    def less(firing: Firing) -> Firing:
        return replace(firing, reaction=Reaction.LESS)

    await store.firings.end([replace(FIRING, state=FiringState.DONE)])
    after = await store.firings.change("f00001", less)

    assert after == replace(FIRING, state=FiringState.DONE, reaction=Reaction.LESS)
    assert await store.firings.by_id("f00001") == after
    assert await store.firings.change("nobody", less) is None


async def test_firings_are_found_by_job_chat_and_what_they_wait_for(store: Store) -> None:
    rehearsal = replace(FIRING, slot="test:1", id="f00002", chat=TEAM, due=1_500.0)
    held = replace(FIRING, slot="s2", id="f00003", due=2_000.0, state=FiringState.DONE, delivery=DeliveryState.HELD)
    for firing in (FIRING, rehearsal, held):
        await store.firings.begin(firing)

    assert ids(await store.firings.history("abc123", 2)) == ["f00003", "f00002"]
    assert ids(await store.firings.in_chat_since(ANN, 1_000.0)) == ["f00001", "f00003"]
    assert ids(await store.firings.in_chat_since(ANN, 1_000.1)) == ["f00003"]
    assert ids(await store.firings.held(ANN)) == ["f00003"]
    assert await store.firings.chats_with_held() == [ANN]

    await store.firings.end([replace(held, delivery=DeliveryState.SENT)])
    assert await store.firings.chats_with_held() == []


async def test_only_what_nobody_took_in_was_missed(store: Store) -> None:
    """A job must also still be due then; the others are not announced."""
    await store.jobs.add(a_job("x", next_at=5.0))
    await store.jobs.add(a_job("y", name="moved1", next_at=6.0))
    who = Sender(id="ann", name="")
    taken = ScheduleFired(event_id="sched:abc123:s1", chat=ANN, sender=who, at=1.0, job="abc123", slot="s1")
    await store.inbox.accept(taken)
    missed = [
        replace(FIRING, slot=slot, id=f"f{slot}", job=job, state=FiringState.MISSED)
        for job, slot in (("abc123", "s1"), ("abc123", "s2"), ("moved1", "s3"))
    ]
    moves = [Advance("abc123", 5.0, 7.0), Advance("moved1", 5.0, 7.0)]

    def say(noted: Sequence[Firing]) -> list[Post]:
        return [post(f"{firing.id}:proactive:0") for firing in noted]

    assert [each.key for each in await store.firings.record_missed(moves, missed, say)] == ["fs2:proactive:0"]
    assert await store.firings.record_missed(moves, missed, say) == []

    assert ids(await store.firings.history("abc123", 9)) == ["fs2"]
    assert [each.key for each in await store.outbox.unsent()] == ["fs2:proactive:0"]


async def test_a_firing_is_found_by_the_name_in_the_keys_of_its_posts(store: Store) -> None:
    await store.firings.begin(FIRING)

    assert await store.firings.named(firing_name(FIRING.job, FIRING.slot)) == FIRING
    assert await store.firings.named(firing_name(FIRING.job, "2026-11-23T09:00:00Z")) is None
    assert await store.firings.named("abc123") is None


# Heartbeats


async def test_a_heartbeat_comes_back_as_it_was(store: Store) -> None:
    assert await store.heartbeats.all() == []
    first = Heartbeat(ANN, "ann", "abc123")
    second = Heartbeat(
        TEAM,
        "bob",
        "def456",
        on=False,
        quiet_from=None,
        quiet_to=None,
        most_a_day=1,
        snoozed_until=9.5,
        failures=2,
        quiet_chosen=True,
        last_look=2.5,
        last_outcome="heartbeat_busy",
    )

    await store.heartbeats.save(first)
    await store.heartbeats.save(second)

    assert await store.heartbeats.find(TEAM) == second
    assert sorted(await store.heartbeats.all(), key=lambda each: each.job) == [first, second]
    changed = await store.heartbeats.change(ANN, lambda found: replace(found, quiet_from=30))
    assert changed == await store.heartbeats.find(ANN) == replace(first, quiet_from=30)
    assert await store.heartbeats.change(ChatKey(platform="x", account="y", chat="z"), lambda found: found) is None


async def test_when_somebody_wrote_last_is_when_they_did_it_themselves(store: Store) -> None:
    """Messages of other users and events created by Parley itself do not count."""
    who = Sender(id="ann", name="Ann")

    def said(number: int, by: Sender, at: float) -> MessageReceived:
        return MessageReceived(event_id=f"e{number}", chat=ANN, sender=by, at=at, text="t", message_id=f"m{number}")

    assert await store.heartbeats.last_wrote(ANN, "ann") is None
    await store.inbox.accept(said(1, who, 10.0))
    await store.inbox.accept(said(2, who, 20.0))
    await store.inbox.accept(said(3, Sender(id="bob", name="Bob"), 30.0))
    await store.inbox.accept(ScheduleFired(event_id="s", chat=ANN, sender=who, at=40.0, job="j", slot="s"))

    assert await store.heartbeats.last_wrote(ANN, "ann") == 20.0

    for number, chat in enumerate(("ann", "anna", "ann2"), start=4):
        thread = ANN.model_copy(update={"chat": chat, "thread": "7.1"})
        await store.inbox.accept(said(number, who, number * 10.0).model_copy(update={"chat": thread}))
    assert await store.heartbeats.last_wrote(ANN, "ann") == 40.0
    assert await store.heartbeats.last_wrote(ANN.model_copy(update={"thread": "7.1"}), "ann") == 40.0
    assert await store.heartbeats.last_wrote(ANN.model_copy(update={"thread": "7"}), "ann") is None


# Secrets


async def test_no_secret_is_written_down(store: Store, tmp_path: Path, database: str | None) -> None:
    words = f"the password is {SECRET}"
    await store.jobs.add(a_job(words))
    await store.jobs.add(a_job(Report(instructions=words), name="def456"))
    await store.jobs.change("abc123", lambda job: replace(job, work=Reminder(text=words)))
    await store.firings.begin(replace(FIRING, text=words))
    ended = replace(FIRING, text=words, error=words, delivery_error=words, run=RUN.id)
    await store.runs.begin_apart(RUN)
    await store.firings.end([ended], [post("k:proactive:0", words)], structs.replace(END, error=words))
    await store.firings.change("f00001", lambda _: ended)
    missed = replace(FIRING, slot="s2", id="f00002", text=words)
    await store.jobs.add(a_job("x", name="ghi789", next_at=1.0))
    await store.firings.record_missed(
        [Advance("ghi789", 1.0, 2.0)],
        [replace(missed, job="ghi789")],
        lambda _: [post("k:proactive:2", words)],
    )

    tables = [f"SELECT * FROM {table}" for table in ("jobs", "firings", "runs", "outbox")]  # noqa: S608
    dump = "\n".join(str(row) for query in tables for row in execute(tmp_path, database, query))

    assert "the password is" in dump
    assert SECRET not in dump
