"""The demo model shows newcomers real tools through the real loop, everything but intelligence."""

import json
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.events import AgentEvent, ToolExecutionEnd, ToolExecutionStart
from agent_core.loop.gate import SKIPPED
from agent_core.messages import (
    AssistantMessage,
    ImageContent,
    JsonObject,
    StopReason,
    TextContent,
    ToolCall,
    ToolResultMessage,
)
from agent_core.models.llm import LlmOptions, LlmRequest, StreamDone, StreamStart, TextDelta
from agent_core.models.scripted import Calls
from agent_core.origin import CLEAN
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from agent_core.tools.catalogue import builtin_tools
from agent_core.tools.memory import Memory, memory_tools
from agent_core.tools.registry import ToolRegistry
from agent_core.tools.tool import Tool, ToolFailed, tool
from gateway.plugins.demo.intents import Intent, Topic, understand
from gateway.plugins.demo.model import DemoLlm, decide
from gateway.plugins.demo.plans import fenced
from gateway.plugins.demo.plugin import DEMO_MODEL
from gateway.plugins.demo.wording import CHINESE, ENGLISH, Wording
from tests.examples import examples
from tests.messages import user
from tests.plugins.demo.demo_chat import Chat, QuickClock
from tests.process import REPOSITORY


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


async def test_it_tells_the_time_of_a_city(chat: Chat) -> None:
    assert await chat.says("what time is it in Tokyo?") == (
        "It is Tuesday, 2025-03-04 21:00:00, Asia/Tokyo (UTC+09:00)."
    )
    assert chat.used == ["Looking at the clock"]


async def test_it_calculates(chat: Chat) -> None:
    assert await chat.says("what is 17 * 23?") == "17 * 23 = 391"
    assert await chat.says("What is the square root of 2?") == "sqrt(2) ≈ 1.4142135623731"
    assert chat.used == ["Calculating sqrt(2)"]


async def test_it_remembers_and_forgets(chat: Chat) -> None:
    assert await chat.says("what do you remember?") == ENGLISH.nothing_known
    assert await chat.says("remember: buy milk") == "I will remember: buy milk"
    assert await chat.says("note: buy milk") == "I will remember: buy milk"
    assert await chat.says("remember to call Ann") == "I will remember: call Ann"
    assert await chat.says("show my notes") == (
        "What I remember:\n\n1. buy milk (2025-03-04)\n2. call Ann (2025-03-04)"
    )
    assert await chat.says("forget 1") == "Forgotten: buy milk"
    assert (chat.memory / "MEMORY.md").read_text() == "2025-03-04|person|call Ann\n"


async def test_it_reads_the_files_of_the_chat_and_no_others(chat: Chat) -> None:
    (chat.workspace / "welcome.txt").write_text("Welcome!\n```\ncode\n```\n")

    assert await chat.says("what files are there?") == "The files of this chat:\n\n```\nwelcome.txt (22 B)\n```"
    assert await chat.says("read welcome.txt") == ("This is `welcome.txt`:\n\n````\nWelcome!\n```\ncode\n```\n````")
    assert "leads out of the workspace" in await chat.says("read ../../.env")


async def test_it_plans_the_day_with_two_tools_and_a_pause(chat: Chat) -> None:
    await chat.says("note: buy milk")

    answer = await chat.says("plan my day")

    assert chat.used == ["Looking into the memory", "Looking at the clock", "Waiting 2 s"]
    assert "13:00:00" in answer
    assert "- Then: buy milk" in answer
    assert "no AI" in answer


def drawing(*, refused: bool = False) -> tuple[Tool, Tool]:
    """Return the tools that draw a chart and send a file."""

    @tool(label="Running {script} {args}")
    async def run_skill_script(skill: str, script: str, args: list[str]) -> str:
        """Draw."""
        if refused:
            raise ToolFailed("the person refused this call")
        return f"{skill} done"

    @tool(label="Sending {path}")
    async def send_file(path: str) -> str:
        """Send."""
        return f"{path} was sent."

    return run_skill_script, send_file


def shipped() -> SkillLibrary:
    return SkillLibrary([(REPOSITORY / "skills", Origin.SHIPPED)])


async def test_it_draws_a_table_with_a_script_and_sends_the_picture(tmp_path: Path) -> None:
    chat = Chat(tmp_path, more=drawing(), library=shipped())
    (tmp_path / "sales.csv").write_text("month,north\nMay,3\n")

    assert "`sales.csv`" in await chat.says("Chart sales.csv")
    assert chat.used == [
        "Reading the skill chart",
        "Reading sales.csv",
        "Running chart.py ['sales.csv', 'chart.png']",
        "Sending chart.png",
    ]
    assert "`sales.csv`" in await chat.says("画图 sales.csv")


async def test_it_goes_no_further_where_the_script_may_not_run(tmp_path: Path) -> None:
    chat = Chat(tmp_path, more=drawing(refused=True), library=shipped())
    (tmp_path / "sales.csv").write_text("month,north\nMay,3\n")

    assert await chat.says("chart sales.csv") == "That did not work: the person refused this call."
    assert chat.used[-1].startswith("Running chart.py")


async def test_where_nothing_can_be_run_it_says_what_is_missing(tmp_path: Path) -> None:
    chat = Chat(tmp_path)
    (tmp_path / "sales.csv").write_text("month,north\nMay,3\n")

    assert "`run_skill_script`" in await chat.says("chart sales.csv")


async def test_it_shows_a_failing_tool_and_explains_it(chat: Chat) -> None:
    answer = await chat.says("show me a failing tool")

    assert chat.used == ["Reading a-file-that-does-not-exist.txt"]
    assert "> there is no a-file-that-does-not-exist.txt in the workspace" in answer
    assert "the run goes on" in answer


async def test_a_long_answer_is_longer_than_any_platform_takes_at_once(chat: Chat) -> None:
    answer = await chat.says("write a long answer")

    assert len(answer) > 4096
    assert answer.count("```") % 2 == 0
    assert len(await chat.says("write a long answer of 10000 characters")) >= 10_000


@pytest.mark.parametrize(
    "text", ["hello", "", "what is the capital of France?", "x" * 100_000, "\u200b\u202e", "/unknown"]
)
async def test_to_anything_else_it_says_what_it_is_and_what_to_try(chat: Chat, text: str) -> None:
    answer = await chat.says(text)

    assert "demo model" in answer
    assert "no AI" in answer
    assert len([line for line in answer.splitlines() if line]) <= 5
    assert "parley connect model" in answer
    assert chat.used == []


@pytest.mark.parametrize("text", ["What can you do?", "help", "你会什么？", "你能帮我做什么"])
async def test_asked_for_more_it_lists_all_that_can_be_tried(chat: Chat, text: str) -> None:
    assert (await chat.says(text)).count("\n- `") == 12
    assert chat.used == []


@pytest.mark.parametrize("wording", [ENGLISH, CHINESE])
def test_the_first_hello_tells_how_to_hear_of_more(wording: Wording) -> None:
    *tries, more = [example for example in wording.hello.split("`")[1::2] if example != "parley connect model"]

    assert understand(more).topic is Topic.HELP
    assert Topic.OTHER not in [understand(each).topic for each in tries]


@pytest.mark.parametrize("line", ENGLISH.help.split("\n") + CHINESE.help.split("\n"))
async def test_everything_it_proposes_is_understood(line: str) -> None:
    for example in (each for each in line.split("`")[1::2] if line.startswith("- ") and not each.startswith("/")):
        assert understand(example).topic is not Topic.OTHER


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("东京几点？", "2025-03-04 21:00:00，星期二，Asia/Tokyo"),
        ("17乘以23等于多少？", "17*23 = 391"),
        ("记一下：买牛奶", "我会记住：买牛奶"),
        ("你记得什么？", "还没有记住"),
        ("读 nothing.txt", "没有成功"),
        ("计划我的一天", "没有可以安排的事"),
        ("演示工具出错", "工具出错就是这样"),
        ("写一个长回答", "一个很长的回答"),
        ("等 2 秒", "等好了"),
        ("你好", "不是人工智能"),
    ],
)
async def test_it_answers_chinese_in_chinese(chat: Chat, text: str, words: str) -> None:
    assert words in await chat.says(text)


async def test_what_is_said_meanwhile_is_answered_too(chat: Chat) -> None:
    def steer(event: AgentEvent) -> None:
        if isinstance(event, ToolExecutionStart) and event.tool_name == "wait":
            chat.agent.steer("what is 2 + 2?")

    chat.agent.subscribe(steer)

    answer = await chat.says("plan my day")

    assert "Your day" in answer
    assert answer.endswith("2 + 2 = 4")
    assert chat.used.count("Calculating 2 + 2") == 1


async def test_a_call_skipped_for_a_message_is_made_again(chat: Chat) -> None:
    def steer(event: AgentEvent) -> None:
        if isinstance(event, ToolExecutionEnd) and event.tool_name == "remember" and not event.is_error:
            chat.agent.steer("what is 2 + 2?")

    chat.agent.subscribe(steer)
    chat.agent.steer("note: second")

    answer = await chat.says("note: first")

    assert answer == "I will remember: first\n\nI will remember: second\n\n2 + 2 = 4"
    kept = (chat.memory / "MEMORY.md").read_text()
    assert [line.rpartition("|")[2] for line in kept.splitlines()] == ["first", "second"]


async def test_after_a_stop_the_old_question_is_not_taken_up_again(chat: Chat) -> None:
    def stop(event: AgentEvent) -> None:
        if isinstance(event, ToolExecutionStart) and event.tool_name == "wait":
            chat.agent.abort()

    forget = chat.agent.subscribe(stop)
    await chat.says("plan my day")
    forget()

    assert await chat.says("what is 2 + 2?") == "2 + 2 = 4"


async def test_a_picture_is_acknowledged_honestly(chat: Chat) -> None:
    picture = ImageContent(data="aGk=", mime_type="image/png")

    assert await chat.says("", picture) == ENGLISH.picture.format(count=1)
    assert (await chat.says("what is 1 + 1?", picture)).endswith("1 + 1 = 2")


async def test_a_file_that_came_along_is_mentioned(chat: Chat) -> None:
    answer = await chat.says("[file: report.pdf, 12 kB]")

    assert answer == "I received this: [file: report.pdf, 12 kB]"


async def test_the_content_of_a_file_that_came_along_is_shown(chat: Chat) -> None:
    answer = await chat.says("[file: a.docx, 12 kB]\n[a.docx reads:]\n# Lease\n[sic] ``` 7\n[End of a.docx.]")

    assert answer == "\n\n".join(
        [
            "I received this: [file: a.docx, 12 kB]",
            ENGLISH.document.format(name="a.docx", text="# Lease\n[sic] ` ` ` 7"),
        ]
    )


async def test_a_tool_that_is_switched_off_is_not_called(tmp_path: Path) -> None:
    chat = Chat(tmp_path, "clock", "wait")

    assert await chat.says("what time is it?") == ENGLISH.no_tool.format(tool="clock")
    assert await chat.says("wait a moment") == ENGLISH.no_tool.format(tool="wait")
    assert chat.used == []


async def test_a_plan_does_without_the_pause_where_there_is_none(tmp_path: Path) -> None:
    chat = Chat(tmp_path, "wait")

    assert "Your day" in await chat.says("plan my day")


def test_a_request_that_forbids_tools_gets_none() -> None:
    specs = ToolRegistry(builtin_tools(QuickClock())).specs()
    request = LlmRequest(system="", messages=(user("what time is it?"),), tools=specs, tool_choice="none")

    assert decide(request) == ENGLISH.no_tool.format(tool="clock")
    assert isinstance(decide(request.model_copy(update={"tool_choice": "auto"})), Calls)


def test_words_of_the_program_are_no_question() -> None:
    request = LlmRequest(system="", messages=(user("<summary>\nwhat is 1 + 1?\n</summary>"), user("what is 2 + 2?")))

    assert decide(request) == ENGLISH.no_tool.format(tool="calculator")


async def test_it_streams_word_by_word_in_well_under_a_second() -> None:
    clock = QuickClock()
    request = LlmRequest(system="", messages=(user("hello"),))

    events = [event async for event in DemoLlm(clock).stream(DEMO_MODEL, request, LlmOptions())]

    assert isinstance(events[0], StreamStart)
    assert sum(isinstance(event, TextDelta) for event in events) > 30
    assert isinstance(events[-1], StreamDone)
    assert events[-1].message.text == ENGLISH.hello
    assert 0.1 < clock.slept < 1


async def test_a_very_long_answer_takes_three_seconds_at_most(chat: Chat) -> None:
    await chat.says("write a long answer of 20000 characters")

    assert chat.clock.slept <= 3.01


async def test_it_says_the_same_every_time(tmp_path: Path) -> None:
    asked = ("note: one", "plan my day", "hello", "what time is it in Paris?")
    first, second = Chat(tmp_path / "first"), Chat(tmp_path / "second")

    assert [await first.says(text) for text in asked] == [await second.says(text) for text in asked]


@settings(max_examples=examples(200))
@given(st.text(max_size=80) | st.text(alphabet="noteplanreadwaitfile0123456789 .:!*()笔记等秒读", max_size=80))
def test_any_text_is_understood_somehow(text: str) -> None:
    assert isinstance(understand(text), Intent)
    assert decide(LlmRequest(system="", messages=(user(text),)))


@pytest.mark.parametrize(("text", "fence"), [("plain", "```"), ("a ``` b", "````"), ("`````", "``````")])
def test_a_fence_is_longer_than_any_it_holds(text: str, fence: str) -> None:
    assert fenced(text) == f"{fence}\n{text}\n{fence}"


def test_the_tools_are_described_in_few_bytes() -> None:
    """Tool descriptions go with every request; the whole first request must stay below 4 kB."""
    clock = QuickClock()
    memory = Memory(Path(), clock, ZoneInfo("UTC"))
    specs = ToolRegistry([*builtin_tools(clock), *memory_tools(lambda _: memory)]).specs()
    sent = [
        {"type": "function", "function": spec.model_dump(include={"name", "description", "parameters"})}
        for spec in specs
    ]

    assert len(json.dumps(sent, separators=(",", ":"))) < 2600


def test_who_writes_something_else_instead_of_an_answer_is_not_asked_again() -> None:
    script: JsonObject = {"skill": "chart", "script": "chart.py", "args": ["sales.csv", "chart.png"]}
    read = ToolCall(id="1", name="read_file", arguments={"path": "sales.csv"})
    drawn = ToolCall(id="2", name="run_skill_script", arguments=script)
    talk = (
        user("chart sales.csv"),
        AssistantMessage(content=(read,), stop_reason=StopReason.TOOL_USE, origin=CLEAN),
        ToolResultMessage(tool_call_id="1", tool_name="read_file", content=(TextContent(text="month"),), origin=CLEAN),
        AssistantMessage(content=(drawn,), stop_reason=StopReason.TOOL_USE, origin=CLEAN),
        ToolResultMessage(
            tool_call_id="2", tool_name="run_skill_script", content=(TextContent(text=SKIPPED),), origin=CLEAN
        ),
        user("hello"),
    )

    assert decide(LlmRequest(system="", messages=talk)) == ENGLISH.hello
