"""The demo model loads skills, asks for missing details, accepts corrections, and starts background tasks."""

import asyncio
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.events import AgentEvent, MessageEnd, ToolExecutionEnd, ToolExecutionStart
from agent_core.messages import AssistantMessage, ImageContent, NotificationMessage
from agent_core.models.llm import LlmRequest
from agent_core.origin import CLEAN, NOT_KNOWN
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolFailed, tool
from gateway.plugins.demo.flight import Details
from gateway.plugins.demo.model import decide
from gateway.plugins.demo.wording import CHINESE, ENGLISH
from tests.cpu import cpu_seconds_at_most
from tests.examples import examples
from tests.messages import user
from tests.plugins.demo.demo_chat import Chat
from tests.process import REPOSITORY

SKILLS = REPOSITORY / "skills"
TOMORROW = "<tomorrow>"
"""Stands for the date of tomorrow in what a `DatedChat` answers."""
LOADS, ASKS_TIME = "Reading the skill book-flight", "Running book-flight/get_current_time.py []"


def scripts(*, refused: bool = False, workspace: Path | None = None) -> Tool:
    """Return a tool that runs skill scripts without a sandbox."""

    @tool(label="Running {skill}/{script} {args}")
    async def run_skill_script(skill: str, script: str, args: tuple[str, ...] = ()) -> ToolResult:
        """Run it."""
        if refused:
            raise ToolFailed("the person refused this call")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(SKILLS / skill / "scripts" / script), *args),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=workspace,
        )
        said, _ = await process.communicate()
        code = process.returncode
        return ToolResult.of(f"[exit code {code}, 0.1 s]\n{said.decode()}", CLEAN, is_error=code != 0)

    return run_skill_script


class DatedChat(Chat):
    """Chat with the shipped skills, whose scripts read the real date; midnight may pass in the middle."""

    def __init__(self, workspace: Path, *more: Tool) -> None:
        super().__init__(workspace, more=more, library=SkillLibrary([(SKILLS, Origin.SHIPPED)]))
        self._tomorrows: set[str] = set()

    async def says(self, text: str, *images: ImageContent) -> str:
        self._tomorrows.add(_tomorrow())
        answer = await super().says(text, *images)
        self._tomorrows.add(_tomorrow())
        for day in self._tomorrows:
            answer = answer.replace(day, TOMORROW)
        return answer


def _tomorrow() -> str:
    return str((datetime.now(UTC).astimezone() + timedelta(days=1)).date())


def chat_with(workspace: Path, *more: Tool) -> Chat:
    return DatedChat(workspace, *more)


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return chat_with(tmp_path, scripts())


# Searching a flight


async def test_all_details_at_once_are_searched_at_once(chat: Chat) -> None:
    answer = await chat.says("book a flight from Beijing to Tokyo tomorrow")

    assert chat.used[:2] == [LOADS, ASKS_TIME]
    assert f"From Beijing to Tokyo, {TOMORROW}:\n\n- ZZ" in answer
    assert "nothing is booked" in answer


async def test_what_is_missing_is_asked_in_one_sentence_and_answered_in_any_order(chat: Chat) -> None:
    assert "which city you leave from and on which day" in await chat.says("I want a flight to Tokyo")
    assert chat.used == [LOADS]
    assert "Please say on which day" in await chat.says("Beijing")
    assert f"From Beijing to Tokyo, {TOMORROW}" in await chat.says("tomorrow, please")
    assert chat.used[0] == ASKS_TIME


async def test_the_conversation_of_the_first_design_in_chinese(chat: Chat) -> None:
    assert "从哪个城市出发、哪一天" in await chat.says("我想订一张去东京的机票")
    assert f"从北京到东京，{TOMORROW}" in await chat.says("从北京出发，明天的航班，经济舱，1个人")
    answer = await chat.says("再看看去旧金山的航班")
    assert answer.startswith("时刻表里没有旧金山")
    assert "北京、上海、" in answer
    assert chat.used[-1] == "Reading reference.md of the skill book-flight"
    assert f"从北京到大阪，{TOMORROW}" in await chat.says("去大阪")


async def test_an_unknown_city_makes_it_read_the_reference_and_name_those_that_are_known(chat: Chat) -> None:
    answer = await chat.says("book a flight from Beijing to Atlantis tomorrow")

    assert answer.startswith("Atlantis is not in the timetable")
    assert "Beijing, Shanghai, " in answer
    assert "From Beijing to Osaka" in await chat.says("to Osaka")
    assert ASKS_TIME not in chat.used, "the day of today is known by now"


async def test_another_topic_ends_neither_the_talk_nor_goes_into_it(chat: Chat) -> None:
    await chat.says("I want a flight to Tokyo")

    assert await chat.says("what is 2 + 2?") == "2 + 2 = 4"
    assert "on which day" in await chat.says("from Beijing")


@pytest.mark.parametrize("words", ["hello", "thanks!", "thank you", "what is my cat called?", "谢谢", "你好"])
async def test_other_talk_after_a_flight_is_no_city(chat: Chat, words: str) -> None:
    await chat.says("book a flight from Beijing to Tokyo tomorrow")
    chat.used.clear()

    assert await chat.says(words) in (ENGLISH.hello, CHINESE.hello)
    assert not chat.used


async def test_a_date_is_no_sum_where_a_day_is_asked_for(chat: Chat) -> None:
    day = datetime.now(UTC).date() + timedelta(days=30)
    await chat.says("book a flight from Beijing to Tokyo")

    assert f"From Beijing to Tokyo, {day}" in await chat.says(str(day))


async def test_what_the_timetable_does_not_have_is_said_as_it_is(chat: Chat) -> None:
    answer = await chat.says("book a flight from Beijing to Tokyo on 2020-01-01")

    assert answer.startswith("That did not work: The date 2020-01-01 is in the past")


async def test_who_refuses_the_script_is_not_asked_again(tmp_path: Path) -> None:
    chat = chat_with(tmp_path, scripts(refused=True))

    answer = await chat.says("book a flight from Beijing to Tokyo tomorrow")

    assert answer == "That did not work: the person refused this call."
    assert chat.used == [LOADS, ASKS_TIME]


@pytest.mark.parametrize(
    ("words", "details"),
    [
        ("fly from New York to Los Angeles on 2027-05-01", ("New York", "Los Angeles", "2027-05-01")),
        ("I would like to fly to Paris from London today", ("London", "Paris", "today")),
        ("a flight to Tokyo for 2 people in business class", ("", "Tokyo", "")),
        ("从上海飞往巴黎的航班，后天", ("上海", "巴黎", "后天")),
        ("明天从广州到新加坡的机票", ("广州", "新加坡", "明天")),
        ("I want a flight\nBeijing to Tokyo\ntomorrow", ("Beijing", "Tokyo", "tomorrow")),
        ("a flight from Rome to Oslo\nno, to Paris", ("Rome", "Paris", "")),
        ("a flight to Rome\nthe day after tomorrow", ("", "Rome", "day after tomorrow")),
        ("a flight to Rome\nleaving from Oslo tomorrow", ("Oslo", "Rome", "tomorrow")),
        ("a flight from Oslo to Rome\nwhat about Paris?", ("Oslo", "Paris", "")),
        ("我想订一张去东京的机票\n从北京出发，明天", ("北京", "东京", "明天")),
        ("我想订一张去东京的机票\n明天从北京走", ("北京", "东京", "明天")),
        ("我想订一张去东京的机票\n我在北京，明天走", ("北京", "东京", "明天")),
        ("帮我订后天上海飞伦敦的机票", ("上海", "伦敦", "后天")),
        ("明天从北京去东京的机票\n那去雾都呢？", ("北京", "雾都", "明天")),
        ("明天从北京去东京的机票\n改成大阪", ("北京", "大阪", "明天")),
    ],
)
def test_details_are_found_in_words(words: str, details: tuple[str, str, str]) -> None:
    found = Details.of(words)

    assert (found.start, found.end, found.day) == details


@settings(max_examples=examples(300))
@given(st.text(alphabet="flyfromtoday 从北京到东去飞票明天的，.\n1-2/", max_size=60))
def test_whatever_is_said_of_a_flight_ends_in_words_or_a_call(text: str) -> None:
    request = LlmRequest(system="", messages=(user("a flight to Rome"), user(text)))

    assert decide(request)


def test_a_very_long_wish_is_read_in_no_time() -> None:
    with cpu_seconds_at_most(1):
        Details.of("a flight " + "from " * 20_000)


def test_cabin_and_people_are_found_too() -> None:
    assert (Details.of("2 people, business").people, Details.of("2 people, business").cabin) == ("2", "business")
    assert (Details.of("三张票，头等舱，3个人").people, Details.of("头等舱").cabin) == ("3", "first")


# Drawing a chart


async def test_a_chart_is_drawn_by_a_skill_that_is_loaded_for_it_once(tmp_path: Path) -> None:
    @tool(label="Sending {path}")
    async def send_file(path: str) -> str:
        """Send."""
        return f"{path} was sent."

    @tool(label="Running {script}")
    async def run_skill_script(skill: str, script: str, args: list[str]) -> str:
        """Run."""
        return f"{skill} {script} {args}"

    chat = chat_with(tmp_path, run_skill_script, send_file)
    (tmp_path / "sales.csv").write_text("month,north\nMay,3\n")

    await chat.says("chart sales.csv")
    assert chat.used == ["Reading the skill chart", "Reading sales.csv", "Running chart.py", "Sending chart.png"]
    await chat.says("chart sales.csv")
    assert chat.used == ["Reading sales.csv", "Running chart.py", "Sending chart.png"]


# Counting, with a correction and a stop


async def test_it_counts_a_second_at_a_time(chat: Chat) -> None:
    assert await chat.says("count to 3") == "Counted to 3."
    assert chat.used == ["Waiting 1 s"] * 3


@pytest.mark.parametrize(
    ("first", "then", "answer"),
    [
        ("count to 20", "no, to 5", "You said 5 instead of 20 while I was counting, and here I am: 5."),
        ("数到 20", "不，到 5", "我数的时候您把 20 改成了 5，所以数到 5 为止。"),
    ],
)
async def test_a_correction_in_the_middle_counts(chat: Chat, first: str, then: str, answer: str) -> None:
    def correct(event: AgentEvent) -> None:
        if isinstance(event, ToolExecutionEnd) and len(chat.used) == 3:
            chat.agent.steer(then)

    chat.agent.subscribe(correct)

    assert await chat.says(first) == answer
    assert chat.used == ["Waiting 1 s"] * 5


async def test_a_correction_that_comes_too_late_is_taken_for_what_it_is(chat: Chat) -> None:
    def correct(event: AgentEvent) -> None:
        if isinstance(event, ToolExecutionEnd) and len(chat.used) == 4:
            chat.agent.steer("no, to 2")

    chat.agent.subscribe(correct)

    assert await chat.says("count to 20") == ENGLISH.counted_too_far.format(number=4, wanted=2)


async def test_a_second_count_begins_anew_and_the_first_one_ends_as_if_alone(chat: Chat) -> None:
    wishes = {1: "count to 6", 8: "no, to 2"}

    def wish(event: AgentEvent) -> None:
        if isinstance(event, ToolExecutionEnd) and len(chat.used) in wishes:
            chat.agent.steer(wishes.pop(len(chat.used)))

    chat.agent.subscribe(wish)

    both = f"{ENGLISH.counted.format(number=4)}\n\n{ENGLISH.counted_too_far.format(number=4, wanted=2)}"
    assert await chat.says("count to 4") == both


async def test_a_question_in_between_is_answered_in_between_and_the_count_can_still_be_corrected(chat: Chat) -> None:
    said: list[str] = []

    def ask(event: AgentEvent) -> None:
        if isinstance(event, ToolExecutionEnd) and len(chat.used) == 2:
            chat.agent.steer("what is 3 * 3?")
        if isinstance(event, ToolExecutionEnd) and len(chat.used) == 5:
            chat.agent.steer("to 6")
        if isinstance(event, MessageEnd) and isinstance(event.message, AssistantMessage):
            said.append(event.message.text)

    chat.agent.subscribe(ask)

    assert await chat.says("count to 20") == f"3 * 3 = 9\n\n{ENGLISH.counted_instead.format(number=6, before=20)}"
    assert said[3] == "3 * 3 = 9\n\n1 2 3"


async def test_after_a_stop_it_does_not_count_on(chat: Chat) -> None:
    def stop(event: AgentEvent) -> None:
        if isinstance(event, ToolExecutionStart) and len(chat.used) == 2:
            chat.agent.abort()

    forget = chat.agent.subscribe(stop)
    await chat.says("count to 20")
    forget()

    assert await chat.says("what is 2 + 2?") == "2 + 2 = 4"


# Background tasks


@pytest.mark.parametrize(
    ("words", "prompt", "answer"),
    [
        ("in the background: count to 5 and tell me", "count to 5 and tell me", ENGLISH.begun),
        ("在后台：数到 5，然后告诉我", "数到 5，然后告诉我", CHINESE.begun),
    ],
)
async def test_a_thing_is_begun_in_the_background(tmp_path: Path, words: str, prompt: str, answer: str) -> None:
    asked: list[tuple[str, bool]] = []

    @tool(label="Task: {prompt}")
    async def task(prompt: str, background: bool = False) -> str:  # noqa: FBT001, FBT002 - a model calls it by name
        """Do it."""
        asked.append((prompt, background))
        return "begun"

    chat = chat_with(tmp_path, task)

    assert await chat.says(words) == answer
    assert asked == [(prompt, True)]


@pytest.mark.parametrize(
    ("text", "quoted", "said"),
    [
        (
            "Your background task k3 completed: count to 5\nTell the person:",
            "Counted to 5.",
            "What you wanted in the background is done (`count to 5`): Counted to 5.",
        ),
        (
            "Your background task k3 completed: 数到 5\nTell them:",
            "数到 5 了。",
            "后台任务完成了（`数到 5`）：数到 5 了。",
        ),
        (
            "Your background task k3 failed: count\nTell the person:",
            "no tool",
            "What you wanted in the background did not work (`count`): no tool",
        ),
        (
            "Your background task k3 cancelled: count\nTell the person:",
            "The task was cancelled.",
            "What you wanted in the background was stopped (`count`).",
        ),
        ("Something else.", "", "Something else."),
    ],
)
@pytest.mark.parametrize("untrusted", [False, True])
async def test_a_report_that_comes_by_itself_is_passed_on(
    chat: Chat, text: str, quoted: str, said: str, *, untrusted: bool
) -> None:
    news = NotificationMessage(
        kind="task", text=text, quoted=quoted, to_model=True, origin=NOT_KNOWN if untrusted and bool(quoted) else CLEAN
    )
    await chat.says("what is 1 + 1?")
    chat.agent.append_message(news)

    assert decide(chat.agent.context.build_request(chat.agent.state)) == said


def test_what_it_proposes_in_both_languages_is_the_same() -> None:
    assert re.findall(r"`(/\w+)`", ENGLISH.help) == re.findall(r"`(/\w+)`", CHINESE.help)
    assert ENGLISH.help.count("\n- ") == CHINESE.help.count("\n- ")


async def test_counting_to_twenty_is_no_repetition(chat: Chat) -> None:
    assert "20" in await chat.says("count to 20")
