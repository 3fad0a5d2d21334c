"""Jobs change on request: proposed, set, changed, paused, resumed, removed, moved to another time zone."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from agent_core.origin import CLEAN
from channels.base import Sender
from gateway.schedule.jobs.job_changes import LONGEST_GRACE, ONCE_GRACE, Draft
from gateway.schedule.jobs.jobs import MOST_WAITING, JobRefused
from gateway.settings.limits import QuotaSettings
from gateway.store.job import CheckIn, Job, JobState, Pause, Reminder, Report
from gateway.store.rule import BadRule, Cron, Every, Once, Rule
from tests.gateway.jobs.asking import Office, open_office
from tests.gateway.jobs.kit import ANN, NINE, PARIS, TEAM, a_job, moment

BY_ANN, BY_BOB, BY_CARL = (Sender(id=name, name="") for name in ("ann", "bob", "carl"))
QUOTAS = QuotaSettings()
TOKYO = ZoneInfo("Asia/Tokyo")


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with open_office(tmp_path) as opened:
        yield opened


def wanted(rule: Rule = NINE, work: Reminder | Report | None = None, **how: object) -> Draft:
    draft = Draft(ANN, "ann", "en", PARIS, rule, work or Reminder(text="stretch"), origin=CLEAN)
    return replace(draft, **how)


async def now(office: Office, job: Job) -> Job:
    found = await office.store.jobs.find(job.id)
    assert found is not None
    return found


async def test_a_draft_does_nothing_until_somebody_says_yes(office: Office) -> None:
    draft = await office.jobs.propose(wanted(), BY_ANN)
    assert (draft.id, draft.state, draft.next_at) == ("ab0001", JobState.DRAFT, None)
    assert office.changes == []

    job = await office.jobs.confirm(draft.id, ANN, BY_ANN)
    assert (job.state, job.next_at) == (JobState.ACTIVE, moment("2026-11-23 09:00"))
    assert office.changes == [moment("2026-11-23 08:00")]


@pytest.mark.parametrize(
    ("rule", "grace"),
    [
        (NINE, LONGEST_GRACE),
        (Cron(expression="0 * * * *"), 1800),
        (Every(seconds=600, since=0.0), 300),
        (Once(at=moment("2026-11-24 09:00")), ONCE_GRACE),
    ],
)
async def test_what_is_missed_is_made_up_for_within_half_of_the_time_to_the_next(
    office: Office, rule: Rule, grace: float
) -> None:
    assert (await office.jobs.propose(wanted(rule), BY_ANN)).grace == grace


async def test_an_id_that_is_taken_is_given_to_nobody_else(office: Office) -> None:
    await office.store.jobs.add(a_job("other", name="ab0001"))

    assert (await office.jobs.propose(wanted(), BY_ANN)).id == "ab0002"


@pytest.mark.parametrize(
    "rule", [Once(at=moment("2026-11-23 07:59")), Cron(expression="0 9 31 2 *"), Cron(expression="nine o'clock")]
)
async def test_a_rule_that_cannot_be_kept_is_not_written_down(office: Office, rule: Rule) -> None:
    with pytest.raises(BadRule):
        await office.jobs.propose(wanted(rule), BY_ANN)

    assert await office.store.jobs.in_chat(ANN) == []


async def test_two_who_say_yes_at_once_set_it_once(office: Office) -> None:
    draft = await office.jobs.propose(wanted(), BY_ANN)

    outcomes = await asyncio.gather(
        *(office.jobs.confirm(draft.id, ANN, BY_ANN) for _ in range(2)), return_exceptions=True
    )
    assert [str(each) for each in outcomes if isinstance(each, JobRefused)] == ["job_was_set"]
    assert len(office.changes) == 1


async def test_the_fifty_first_is_refused_also_beside_the_fiftieth(office: Office) -> None:
    for number in range(QUOTAS.chat_jobs - 1):
        await office.store.jobs.add(a_job("x", name=f"aa{number:04}"))
    drafts = [await office.jobs.propose(wanted(), BY_ANN) for _ in range(2)]

    outcomes = await asyncio.gather(
        *(office.jobs.confirm(draft.id, ANN, BY_ANN) for draft in drafts), return_exceptions=True
    )
    assert [str(each) for each in outcomes if isinstance(each, JobRefused)] == ["job_full"]
    with pytest.raises(JobRefused, match="job_full"):
        await office.jobs.propose(wanted(), BY_ANN)


async def test_one_person_has_no_more_than_their_share_and_owners_keep_places(office: Office) -> None:
    by_bob = Sender(id="bob", name="Bob")
    for number in range(QUOTAS.person_jobs):
        await office.store.jobs.add(a_job("x", name=f"aa{number:04}", person="bob", chat=TEAM))
    with pytest.raises(JobRefused, match="job_full_of_person"):
        await office.jobs.propose(replace(wanted(), chat=TEAM, person="bob"), by_bob)
    for number in range(QUOTAS.chat_jobs - QUOTAS.owner_jobs - QUOTAS.person_jobs):
        await office.store.jobs.add(a_job("x", name=f"bb{number:04}", person="eve", chat=TEAM))
    with pytest.raises(JobRefused, match="job_full"):
        await office.jobs.propose(replace(wanted(), chat=TEAM, person="zoe"), Sender(id="zoe", name="Zoe"))
    assert await office.jobs.propose(replace(wanted(), chat=TEAM), BY_ANN)


async def test_a_chat_with_fifty_can_still_change_one(office: Office) -> None:
    for number in range(QUOTAS.chat_jobs):
        await office.store.jobs.add(a_job("x", name=f"aa{number:04}"))
    draft = await office.jobs.propose(wanted(instead_of="aa0001"), BY_ANN)

    assert (await office.jobs.confirm(draft.id, ANN, BY_ANN)).id == "aa0001"


async def test_drafts_do_not_pile_up(office: Office) -> None:
    for _ in range(MOST_WAITING):
        await office.jobs.propose(wanted(), BY_ANN)

    with pytest.raises(JobRefused, match="job_waiting_full"):
        await office.jobs.propose(wanted(), BY_ANN)


async def test_a_changed_job_keeps_its_person_and_its_past(office: Office) -> None:
    job = a_job("stretch", person="bob", chat=TEAM, failures=1, told_cause="x")
    await office.store.jobs.add(job)
    change = Draft(
        TEAM, "bob", "en", TOKYO, Cron(expression="0 8 * * *"), Reminder(text="rest"), instead_of=job.id, origin=CLEAN
    )
    draft = await office.jobs.propose(change, BY_ANN)

    changed = await office.jobs.confirm(draft.id, TEAM, BY_ANN)
    assert (changed.id, changed.person, changed.created) == (job.id, "bob", job.created)
    assert (changed.zone, changed.work, changed.failures) == ("Asia/Tokyo", Reminder(text="rest"), 0)
    assert changed.next_at == moment("2026-11-24 08:00", TOKYO)
    assert (await now(office, draft)).state is JobState.DONE


@pytest.mark.parametrize("act", ["confirm", "cancel", "draft"])
async def test_others_do_not_answer_for_whoever_asked(office: Office, act: str) -> None:  # D-11
    draft = await office.jobs.propose(wanted(chat=TEAM, person="bob"), BY_BOB)

    with pytest.raises(JobRefused, match="job_not_yours"):
        await getattr(office.jobs, act)(draft.id, TEAM, BY_CARL)
    with pytest.raises(JobRefused, match="job_gone"):
        await getattr(office.jobs, act)(draft.id, ANN, BY_BOB)
    await getattr(office.jobs, act)(draft.id, TEAM, BY_ANN)


async def test_a_paused_one_goes_on_from_now(office: Office) -> None:
    await office.store.jobs.add(a_job("stretch", failures=2))
    paused = await office.jobs.pause("abc123", ANN, BY_ANN)
    assert (paused.state, paused.pause, paused.next_at) == (JobState.PAUSED, Pause.PERSON, None)

    office.calendar.move_to(moment("2026-11-27 12:00"))
    resumed = await office.jobs.resume("abc123", ANN, BY_ANN)
    assert (resumed.state, resumed.pause, resumed.failures) == (JobState.ACTIVE, None, 0)
    assert resumed.next_at == moment("2026-11-28 09:00")


async def test_one_that_would_have_come_once_while_it_was_paused_is_over(office: Office) -> None:
    await office.store.jobs.add(a_job("stretch", Once(at=moment("2026-11-24 09:00"))))
    await office.jobs.pause("abc123", ANN, BY_ANN)
    office.calendar.move_to(moment("2026-11-25 09:00"))

    with pytest.raises(JobRefused, match="job_over"):
        await office.jobs.resume("abc123", ANN, BY_ANN)
    assert await office.jobs.shown(ANN) == []


@pytest.mark.parametrize(
    ("act", "state", "why"),
    [
        ("pause", JobState.PAUSED, "job_is_paused"),
        ("resume", JobState.ACTIVE, "job_is_active"),
        ("pause", JobState.DONE, "job_over"),
        ("resume", JobState.DONE, "job_over"),
        ("pause", JobState.DRAFT, "job_is_draft"),
        ("resume", JobState.DRAFT, "job_is_draft"),
        ("remove", JobState.REMOVED, "job_unknown"),
    ],
)
async def test_what_means_nothing_is_refused(office: Office, act: str, state: JobState, why: str) -> None:
    await office.store.jobs.add(a_job("stretch", state=state, next_at=None))

    with pytest.raises(JobRefused, match=why):
        await getattr(office.jobs, act)("abc123", ANN, BY_ANN)


async def test_check_ins_are_another_matter(office: Office) -> None:
    await office.store.jobs.add(a_job(CheckIn()))

    assert await office.jobs.shown(ANN) == []
    with pytest.raises(JobRefused, match="job_unknown"):
        await office.jobs.remove("abc123", ANN, BY_ANN)


async def test_jobs_move_to_other_clocks(office: Office) -> None:
    every = Every(seconds=7200, since=moment("2026-11-23 08:00"))
    await office.store.jobs.add(a_job("daily", name="aa0001"))
    await office.store.jobs.add(a_job("often", every, name="aa0002"))
    await office.store.jobs.add(a_job("paused", name="aa0003", state=JobState.PAUSED, next_at=None))
    await office.store.jobs.add(a_job("elsewhere", name="aa0004", chat=TEAM))
    await office.store.jobs.add(a_job("over", name="aa0005", state=JobState.DONE, next_at=None))

    assert await office.jobs.move_zone(ANN, TOKYO) == 3
    moved = {job.id: job for job in await office.store.jobs.in_chat(ANN)}
    assert moved["aa0001"].next_at == moment("2026-11-24 09:00", TOKYO)
    assert moved["aa0002"].next_at == moment("2026-11-23 10:00")
    assert (moved["aa0003"].zone, moved["aa0003"].state) == ("Asia/Tokyo", JobState.PAUSED)
    assert moved["aa0005"].zone == "Europe/Paris"
    assert [job.zone for job in await office.store.jobs.in_chat(TEAM)] == ["Europe/Paris"]
    assert office.changes
