"""Tasks survive a stop of the program at any point: each is reported once."""

import asyncio
from pathlib import Path

from msgspec.structs import replace

from agent_core.clock import SystemClock, new_id
from agent_core.messages import AssistantMessage, StopReason, ToolCall, text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import Turn, Waits, calls
from agent_core.origin import CLEAN
from agent_core.tasks import Report, TaskStatus
from agent_core.tools.tool import tool
from channels.memory import NO_PACE, MemoryChannel
from gateway.runs.attempts import MOST_DEATHS
from gateway.runs.tasks.report import news_of
from gateway.runs.tasks.tasks import MOST_IN_A_ROW
from gateway.store.rows import Task
from gateway.store.store import Store
from tests.gateway.approving import CHART, acting, id_of, questions
from tests.gateway.conftest import StartBot
from tests.gateway.dying import died
from tests.gateway.tasking import IN_BACKGROUND, Cast, are, begins, ids, in_background, rows, states
from tests.gateway.test_recovery import ANN, RUN, answered, heard, said
from tests.messages import user

NEVER = "never said"
COUNT = Task(
    id="abc123",
    call="session-1:answer-1:call-1",
    chat=ANN,
    asked_by="run-1",
    person="ann",
    language="en",
    reply_to=None,
    prompt="count",
    background=True,
    origin=CLEAN,
    created=1_000.0,
)
DONE = Report(status=TaskStatus.COMPLETED, text="42 files.", origin=CLEAN)


def waits() -> Waits:
    return Waits(asyncio.Event(), NEVER)


# Each step of one task, with the program killed after it


async def test_after_it_was_noted(start_bot: StartBot, tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.tasks.add(COUNT)

    cast = Cast(tasks={"count": ["42 files."]})
    bot = await start_bot(*cast.turns)
    await bot.app.settled()

    assert bot.screen == ["Told 1."]
    assert "42 files." in cast.told[0]


async def test_after_it_was_noted_and_before_its_call_had_a_result(wired_bot: StartBot, tmp_path: Path) -> None:
    """The call is repeated and gets the same task."""
    call = ToolCall(id="call-1", name="task", arguments={"prompt": "count", "background": True})
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.inbox.accept(heard(1, "count in the background"))
        await store.runs.begin(RUN)
        await store.transcript.append(RUN, 1, said(1, "count in the background"), [1])
        await store.transcript.append(
            RUN, 1, AssistantMessage(id="answer-1", content=(call,), stop_reason=StopReason.TOOL_USE, origin=CLEAN)
        )
        await store.tasks.add(COUNT)

    cast = Cast(IN_BACKGROUND, tasks={"count": ["42 files."]})
    bot = await wired_bot(*cast.turns)
    await bot.app.settled()

    assert ids(bot.home) == ["abc123"]
    assert cast.asked == {"count": 1}
    assert bot.screen == [IN_BACKGROUND, "Told 1."]


async def test_after_it_was_begun(start_bot: StartBot, tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.tasks.add(COUNT)
        await store.tasks.start(COUNT)

    cast = Cast(tasks={"count": ["42 files."]})
    bot = await start_bot(*cast.turns)
    await bot.app.settled()

    assert bot.screen == ["Told 1."]


async def test_in_the_middle_it_goes_on_from_where_it_was(wired_bot: StartBot) -> None:
    looked = []

    @tool()
    async def look() -> str:
        """Look."""
        looked.append(1)
        return "sunny"

    thinking = waits()
    cast = Cast(begins("count"), IN_BACKGROUND, tasks={"count": [calls(("look", {})), thinking, "Sunny."]})
    bot = await wired_bot(*cast.turns, tools=(look,))
    await bot.channel.hears("count in the background")
    await thinking.reached.wait()
    await in_background(bot)

    await bot.restart()
    await bot.app.settled()

    assert looked == [1]
    assert bot.screen == [IN_BACKGROUND, "Told 1."]
    assert "Sunny." in cast.told[0]


async def test_lives_that_ended_as_they_should_do_not_count(start_bot: StartBot) -> None:
    lives = [waits() for _ in range(MOST_DEATHS + 1)]
    cast = Cast(begins("count"), IN_BACKGROUND, tasks={"count": [*lives, "42 files."]})
    bot = await start_bot(*cast.turns)
    await bot.channel.hears("count in the background")
    for life in lives:
        await life.reached.wait()
        await in_background(bot)
        await bot.restart()
    await bot.app.settled()

    assert states(bot.home) == ["completed"]
    assert "42 files." in cast.told[0]


async def test_after_its_last_answer_and_before_its_end(start_bot: StartBot, tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.tasks.add(COUNT)
        await store.tasks.start(COUNT)
        await store.transcript.append(COUNT.run, 1, user("count"))
        await store.transcript.append(COUNT.run, 1, answered("42 files."))

    cast = Cast(tasks={"count": [NEVER]})
    bot = await start_bot(*cast.turns)
    await bot.app.settled()

    assert cast.asked == {}
    assert bot.screen == ["Told 1."]
    assert "42 files." in cast.told[0]


async def test_after_its_end_and_before_its_report_was_begun(start_bot: StartBot, tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.tasks.add(COUNT)
        await store.tasks.start(COUNT)
        await store.tasks.end(COUNT, DONE, "", news_of(COUNT, DONE, "", 1.0))

    cast = Cast(tasks={})
    bot = await start_bot(*cast.turns)
    await bot.app.settled()

    assert bot.screen == ["Told 1."]
    assert "42 files." in cast.told[0]


async def test_during_its_report(wired_bot: StartBot) -> None:
    thinking = waits()
    cast = Cast(begins("count"), IN_BACKGROUND, reports=thinking, tasks={"count": ["42 files."]})
    bot = await wired_bot(*cast.turns)
    await bot.channel.hears("count in the background")
    await thinking.reached.wait()
    cast.reports = "There are 42."

    await bot.restart()
    await bot.app.settled()

    assert bot.screen == [IN_BACKGROUND, "There are 42."]
    assert rows(bot.home, "SELECT count(*) FROM transcript WHERE message LIKE '%Your background task%'") == [(1,)]


async def test_after_its_report_was_told_nothing_is_left(start_bot: StartBot) -> None:
    cast = Cast(begins("count"), IN_BACKGROUND, tasks={"count": ["42 files."]})
    bot = await start_bot(*cast.turns)
    await bot.hears("count in the background")

    await bot.restart()
    await bot.restart()
    await bot.app.settled()

    assert bot.screen == [IN_BACKGROUND, "Told 1."]


async def test_an_end_is_written_down_once(tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.tasks.add(COUNT)
        news = news_of(COUNT, DONE, "", 1.0)

        assert await store.tasks.end(COUNT, DONE, "", news) is not None
        assert await store.tasks.end(COUNT, Report(status=TaskStatus.FAILED, origin=CLEAN), "", news) is None
        assert await store.tasks.start(COUNT) == 0

        assert [task.status for task in [await store.tasks.find("abc123")] if task] == [TaskStatus.COMPLETED]
        assert len(await store.inbox.waiting()) == 1


async def test_of_twenty_none_is_lost_and_none_is_told_twice_however_often_it_is_stopped(
    start_bot: StartBot, tmp_path: Path
) -> None:
    names = [f"dig {number:02}" for number in range(20)]
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        for number, name in enumerate(names):
            await store.tasks.add(replace(COUNT, id=f"abc{number:03}", call=name, prompt=name))

    def play(request: LlmRequest) -> Turn:
        texts = [text_of(message.content) for message in request.messages]
        if texts[0] not in names:
            return "So it is."
        return f"found {texts[0]}" if len(texts) > 1 else calls(("look", {}))

    @tool()
    async def look() -> str:
        """Look."""
        return "nothing"

    bot = await start_bot(*[play] * 1000, tools=(look,), channel=MemoryChannel(limits=NO_PACE))
    for asked in (1, 8, 15, 22, 29, 36, 43):
        await bot.channel.until(lambda asked=asked: len(bot.llm.requests) >= asked)  # type: ignore[misc]
        await bot.restart()
    await bot.app.settled()

    assert states(bot.home) == ["completed"] * 20
    told = [str(row[0]) for row in rows(bot.home, "SELECT message FROM transcript WHERE message LIKE '%Your backgr%'")]
    assert sorted(name for name in names for message in told if f'"quoted":"found {name}"' in message) == names
    assert rows(bot.home, "SELECT count(*) FROM inbox WHERE state = 'new'") == [(0,)]
    assert rows(bot.home, "SELECT count(*) FROM runs WHERE state = 'running'") == [(0,)]


# Tasks that are not resumed


async def test_one_that_ends_the_program_each_time_is_set_aside_and_can_be_continued_once(
    start_bot: StartBot, tmp_path: Path
) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.tasks.add(COUNT)
        await store.tasks.start(COUNT)
        await died(store, COUNT.run, MOST_DEATHS - 1)

    cast = Cast(tasks={"count": ["42 files."]})
    bot = await start_bot(*cast.turns)
    await bot.app.settled()

    assert states(bot.home) == ["killed"]
    assert "Parley ended 3 times in the same step of it" in cast.told[0]
    assert bot.screen == ["Told 1."]

    await bot.restart()
    await bot.channel.presses("Continue")
    await bot.app.settled()
    await bot.channel.presses("Continue")
    await bot.app.settled()

    assert states(bot.home) == ["completed"]
    assert "42 files." in cast.told[-1]
    assert bot.screen[-1] == "There is nothing to continue here any more."
    assert cast.asked == {"count": 1}


async def test_one_that_was_cancelled_goes_on_in_no_other_life(start_bot: StartBot, tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.tasks.add(COUNT)
        await store.tasks.start(COUNT)
        await store.tasks.cancel(COUNT.id)

    cast = Cast(tasks={"count": [NEVER]})
    bot = await start_bot(*cast.turns)
    await bot.app.settled()

    assert cast.asked == {}
    assert states(bot.home) == ["cancelled"]
    assert bot.screen == ["Told 1."]


async def test_one_of_a_person_who_may_not_speak_any_more_goes_on_in_no_other_life(
    start_bot: StartBot, tmp_path: Path
) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.tasks.add(replace(COUNT, person="dora"))

    cast = Cast(tasks={"count": [NEVER]})
    bot = await start_bot(*cast.turns)
    await bot.app.settled()

    assert cast.asked == {}
    assert states(bot.home) == ["cancelled"]
    assert bot.screen == []  # and no model call is made on her behalf


async def test_no_chain_goes_on_unheard_because_it_was_forgotten(start_bot: StartBot, tmp_path: Path) -> None:
    """A summary may have replaced the reports."""
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        for number in range(MOST_IN_A_ROW):
            await store.tasks.add(task := replace(COUNT, id=f"abc{number:03}", call=str(number)))
            told = await store.tasks.end(task, DONE, "", news_of(task, DONE, "", 1.0))
            assert told is not None
            await store.inbox.settle([told.seq])
        await store.tasks.add(replace(COUNT, prompt="step"))

    cast = Cast(IN_BACKGROUND, reports=begins("step"), tasks={"step": ["Done."]})
    bot = await start_bot(*cast.turns)
    await bot.app.settled()

    assert len(states(bot.home)) == MOST_IN_A_ROW + 1
    assert "without a word of a person" in text_of(bot.llm.requests[-1].messages[-1].content)


async def test_a_report_that_ends_the_program_each_time_is_told_without_the_model(
    start_bot: StartBot, tmp_path: Path
) -> None:
    thinking = waits()
    cast = Cast(begins("count"), IN_BACKGROUND, reports=thinking, tasks={"count": ["42 files."]})
    bot = await start_bot(*cast.turns)
    await bot.channel.hears("count in the background")
    await thinking.reached.wait()
    await bot.stop()
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        [telling] = await store.runs.unfinished()
        await died(store, telling, MOST_DEATHS)
    await bot.restart()
    await bot.app.settled()

    assert "42 files." in bot.screen[-1]
    assert "three times at the same point" in bot.screen[-1]


async def test_a_chat_of_a_platform_that_is_not_connected_waits(start_bot: StartBot, tmp_path: Path) -> None:
    elsewhere = ANN.model_copy(update={"platform": "other"})
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.tasks.add(replace(COUNT, chat=elsewhere))

    cast = Cast(tasks={"count": [NEVER]})
    bot = await start_bot(*cast.turns)
    await bot.app.settled()

    assert states(bot.home) == ["pending"]


async def test_what_it_asked_for_is_asked_once_and_runs_once(start_bot: StartBot) -> None:
    ran: list[list[str]] = []
    cast = Cast(begins("draw"), IN_BACKGROUND, tasks={"draw": [CHART, "Drawn."]})
    bot = await start_bot(*cast.turns, tools=(acting(ran=ran),))
    await bot.channel.hears("draw it in the background")
    await bot.channel.until(lambda: bool(questions(bot)))
    await in_background(bot)

    await bot.restart()
    await bot.channel.until(are(bot.home, "running"))
    await bot.hears(f"/approve {id_of(questions(bot)[0])}")

    assert ran == [["python3", "chart.py"]]
    assert sum("May I do this?" in call.markdown for call in bot.channel.calls if call.kind == "send") == 1
    assert bot.screen[-1] == "Told 1."


async def test_one_that_ends_while_the_program_stops_is_told_in_the_next_life(
    start_bot: StartBot, tmp_path: Path
) -> None:
    """A chat without a session must not start work after the others have stopped."""
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.tasks.add(COUNT)
    working, resting, rested = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @tool()
    async def slow() -> str:
        """Take long to stop."""
        working.set()
        try:
            await asyncio.Event().wait()
        finally:
            resting.set()
            await rested.wait()
        return "never"

    counting = Waits(asyncio.Event(), "42 files.")
    cast = Cast(calls(("slow", {})), "Over.", tasks={"count": [counting]})
    bot = await start_bot(*cast.turns, tools=(slow,))
    await counting.reached.wait()
    await bot.channel.hears("be slow", group="team")
    await working.wait()
    stopping = asyncio.create_task(bot.stop())
    await resting.wait()
    counting.event.set()
    await bot.channel.until(are(bot.home, "completed"))
    rested.set()
    await stopping

    assert cast.told == []
    await bot.restart()
    await bot.app.settled()
    assert len(cast.told) == 1
