"""The demo model plans reminders and reports, runs jobs that are due, and answers questions about a report."""

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent_core.messages import JsonObject, NotificationMessage
from agent_core.origin import CLEAN, NOT_KNOWN
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolFailed, tool
from gateway.plugins.demo.intents import Topic, understand
from gateway.plugins.demo.wording import CHINESE, ENGLISH
from gateway.schedule.times.grammar import read_when
from gateway.schedule.times.words import rule_words
from gateway.store.rule import BadRule
from gateway.texts.say import say
from tests.plugins.demo.demo_chat import Chat
from tests.plugins.demo.test_demo_skills import chat_with, scripts

UTC = ZoneInfo("UTC")
NOW = datetime(2025, 3, 5, 12, tzinfo=UTC).timestamp()
"""A Wednesday."""
PEOPLE = "month,readers,letters\nApril,10,3\nMay,12,3\nJune,9,3\n"


class Plans:
    """Stand-ins for the gateway's tools that propose and list jobs, by the same names."""

    def __init__(self) -> None:
        self.proposed: list[JsonObject] = []
        self.asked: list[tuple[str, str]] = []
        self.reasons: list[str] = []
        self.sent: list[str] = []

    def tools(self, *, alone: bool = False) -> tuple[Tool, ...]:
        @tool(label="Proposing: {what}")
        async def schedule(*, kind: str, what: str, when: str, skill: str = "") -> str:
            """Propose it; the time is read as the gateway's tool reads it."""
            try:
                found = read_when(when, UTC, NOW)
            except BadRule as error:
                raise ToolFailed(say(error.key, "en", **error.facts)) from error
            if not found.rest or what != when:
                raise ToolFailed(say("job_no_words", "en"))
            told = {"kind": kind, "what": found.rest, "rule": rule_words(found.rule, UTC, "en"), "skill": skill}
            self.proposed.append({key: value for key, value in told.items() if value})
            return "The preview is in the chat."

        @tool(label="Jobs")
        async def jobs(action: str = "list", id: str = "") -> str:  # noqa: A002 - as the model says it
            """List."""
            self.asked.append((action, id))
            return "abc123; active; reminder: tea; or coffee; every day at 09:00 (UTC); next tomorrow 09:00"

        @tool(label="Nothing to report")
        async def nothing_to_report(why: str) -> ToolResult:
            """End."""
            self.reasons.append(why)
            return ToolResult.of(why, CLEAN).model_copy(update={"terminate": True})

        @tool(label="Sending {path}")
        async def send_file(path: str) -> str:
            """Send."""
            self.sent.append(path)
            return f"{path} will be sent."

        return (nothing_to_report, send_file) if alone else (schedule, jobs, send_file)


@pytest.fixture
def plans() -> Plans:
    return Plans()


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        ("remind me in 20 minutes to stretch", {"what": "stretch", "rule": "on Wed 5 Mar 2025 at 12:20"}),
        ("in half an hour remind me: tea is ready", {"what": "tea is ready", "rule": "on Wed 5 Mar 2025 at 12:30"}),
        ("please remind me every 45 minutes to drink", {"what": "drink", "rule": "every 45 minutes"}),
        ("remind me tomorrow at 9 to call Ann", {"what": "call Ann", "rule": "on Thu 6 Mar 2025 at 09:00"}),
        ("20分钟后提醒我喝水", {"what": "喝水", "rule": "on Wed 5 Mar 2025 at 12:20"}),
        ("明天下午3点提醒我开会", {"what": "开会", "rule": "on Thu 6 Mar 2025 at 15:00"}),
        ("提醒我每天早上9点吃药", {"what": "吃药", "rule": "every day at 09:00"}),
    ],
)
async def test_a_reminder_is_proposed(tmp_path: Path, plans: Plans, words: str, proposed: JsonObject) -> None:
    answer = await chat_with(tmp_path, *plans.tools()).says(words)

    assert plans.proposed == [{"kind": "reminder", **proposed}]
    assert answer in (ENGLISH.proposed, CHINESE.proposed)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("every weekday at nine send me a report of my notes", "send me a report of my notes"),
        ("send me a report of my notes every weekday at nine", "send me a report of my notes"),
        ("每个工作日九点给我发日报", "给我发日报"),
    ],
)
async def test_a_report_with_a_time_is_proposed(tmp_path: Path, plans: Plans, words: str, what: str) -> None:
    await chat_with(tmp_path, *plans.tools()).says(words)

    assert plans.proposed == [
        {"kind": "report", "what": what, "rule": "every weekday at 09:00", "skill": "daily-report"}
    ]


@pytest.mark.parametrize("words", ["remind me", "remind me to call mum"])
async def test_without_a_time_or_words_it_asks_for_them(tmp_path: Path, plans: Plans, words: str) -> None:
    assert await chat_with(tmp_path, *plans.tools()).says(words) == ENGLISH.remind_when
    assert not plans.proposed


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("remind me in 5 minutes", "It says nothing yet."),
        ("remind me at 25:00 to call", "No clock shows 25:00."),
        ("remind me tomorrow at 9:00 in Tokyo to call", "Is that the time in Tokyo, or only a place?"),
        ("明天9点在东京提醒我打电话", "我没能读懂这个时间。"),
    ],
)
async def test_a_time_that_cannot_be_read_is_asked_for(tmp_path: Path, plans: Plans, words: str, answer: str) -> None:
    assert (await chat_with(tmp_path, *plans.tools()).says(words)).startswith(answer)
    assert not plans.proposed


async def test_what_is_planned_is_listed_and_taken_back(tmp_path: Path, plans: Plans) -> None:
    chat = chat_with(tmp_path, *plans.tools())

    listed = await chat.says("what is scheduled?")
    assert listed.endswith("\n- `abc123` tea; or coffee: every day at 09:00 (UTC), active")
    assert (await chat.says("有哪些提醒？")).endswith("\n- `abc123` tea; or coffee")
    assert await chat.says("what is planned here?") == listed
    assert (await chat.says("有什么安排？")).endswith("\n- `abc123` tea; or coffee")
    assert await chat.says("cancel reminder abc123") == "`abc123` is removed."
    assert await chat.says("取消提醒 abc123") == "`abc123` 已删除。"
    assert plans.asked == [*[("list", "")] * 4, ("remove", "abc123"), ("remove", "abc123")]


@pytest.mark.parametrize(
    ("words", "topic"),
    [
        ("remember to send the report", Topic.REMEMBER),
        ("note: remind me", Topic.REMEMBER),
        ("read report.md", Topic.READ),
        ("show reminders.md", Topic.READ),
        ("give me a chart of report.csv", Topic.CHART),
        ("读 日报.md", Topic.READ),
        ("forget 3", Topic.FORGET),
        ("which day is it?", Topic.TIME),
    ],
)
def test_what_others_understand_is_left_to_them(words: str, topic: Topic) -> None:
    assert understand(words).topic is topic


# Runs of due jobs


def alone(workspace: Path, plans: Plans, *more: Tool) -> Chat:
    return chat_with(workspace, *plans.tools(alone=True), *more)


async def test_a_report_names_what_is_new_and_compares_the_last_rows_of_a_table(tmp_path: Path, plans: Plans) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "visits.csv").write_text(PEOPLE)
    chat = alone(tmp_path, plans)
    chat.agent.discover_skills()

    answer = await chat.says("a report of my notes")

    assert answer.startswith(ENGLISH.report_title)
    assert "visits.csv" not in plans.sent
    assert plans.reasons == []


async def test_a_report_comes_with_its_chart(tmp_path: Path, plans: Plans) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "visits.csv").write_text(PEOPLE)

    chat = alone(tmp_path, plans, scripts(workspace=tmp_path))
    answer = await chat.says("a report of my notes")

    assert answer == (
        f"{ENGLISH.report_title}\n\n{ENGLISH.report_files}\n- `visits.csv`\n\n"
        "`notes/visits.csv`, June beside May:\n- readers: 9, lower than 12\n- letters: 3, as before"
    )
    assert plans.sent == ["report.png"]
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")


async def test_where_nothing_is_new_nothing_is_said(tmp_path: Path, plans: Plans) -> None:
    (tmp_path / "report.png").write_bytes(b"its own of yesterday")

    await alone(tmp_path, plans, scripts(workspace=tmp_path)).says("给我发日报")

    assert plans.reasons == ["Nothing to report."]


async def test_a_report_that_is_asked_for_now_is_made_now(tmp_path: Path, plans: Plans) -> None:
    chat = chat_with(tmp_path, *plans.tools(), scripts(workspace=tmp_path))

    assert await chat.says("send me a report of my notes") == ENGLISH.report_nothing
    assert await chat.says("写日报") == CHINESE.report_nothing


def others(said: str, used: str, sent: list[str]) -> tuple[Tool, ...]:
    """Return the tools that only job runs have."""

    @tool(label="Reading what was said here")
    async def read_history(hours: int = 24) -> str:
        """Read."""
        return said if hours else ""

    @tool(label="Looking at what was used")
    async def own_usage(days: int = 7) -> str:
        """Read."""
        return used if days else ""

    @tool(label="Reading {url}")
    async def web_fetch(url: str) -> str:
        """Read."""
        sent.append(url)
        return "# News\n\n- [Version 2 is out](https://example.com/2)\nwords\n"

    return read_history, own_usage, web_fetch


USED = (
    "Used by Parley in this chat, 2026-11-16 to 2026-11-22 (UTC): 1 call, 2,851 tokens, $0.0120\n"
    "- kind chat: 1 call\n\n"
    "Per day, as CSV; keep it with write_file to draw it:\n"
    "day,calls,tokens,cost_usd\n2026-11-20,0,0,0\n2026-11-21,0,0,0\n2026-11-22,1,2851,0.0120"
)


@pytest.mark.parametrize(
    ("skill", "words", "said"),
    [
        ("chat-digest", "what was said", "**Said here in the last day (plain rules, no AI)**\n- Ann: tea?"),
        (
            "usage-report",
            "what you have used",
            "**Used in the last 7 days (plain rules, no AI)**\n\n- Calls: 1\n- Tokens: 2,851\n- Cost: $0.0120",
        ),
        (
            "page-watch",
            "what is new on https://example.com/news",
            f"{ENGLISH.page_first.format(address='https://example.com/news')}"
            "\n- News\n- [Version 2 is out](https://example.com/2)",
        ),
    ],
)
async def test_the_other_reports_are_made_too(tmp_path: Path, plans: Plans, skill: str, words: str, said: str) -> None:
    more = others("Sunday 2026-11-22:\n09:14 Ann: tea?\n09:15 Parley: a long answer", USED, [])
    chat = alone(tmp_path, plans, scripts(workspace=tmp_path), *more)
    chat.agent.discover_skills()
    chat.agent.load_skill(skill)

    assert await chat.says(words) == said
    assert plans.sent == (["usage.png"] if skill == "usage-report" else [])


@pytest.mark.parametrize(("skill", "words"), [("chat-digest", "what was said"), ("usage-report", "what you have used")])
async def test_where_nothing_was_said_or_used_they_say_nothing(
    tmp_path: Path, plans: Plans, skill: str, words: str
) -> None:
    chat = alone(tmp_path, plans, *others("Nothing was said.", "Used by Parley: 0 calls, 0 tokens, $0.0000", []))
    chat.agent.discover_skills()
    chat.agent.load_skill(skill)

    await chat.says(words)

    assert len(plans.reasons) == 1


CHECK_IN = (
    "Now: Monday 2026-11-23 10:00 (UTC).\n\n"
    "What the person wants looked after (HEARTBEAT.md):\n- water the plants\n- look at inbox.md\n\n"
    "{more}If something here needs the person now, write them one short message about it in {language}. "
    "If not, {otherwise}. Look at nothing else, and bring up nothing from earlier talks."
)
SAID = (
    "You wrote this to them in the last 24 hours. Do not repeat it in any words:\n"
    "- 08:00 On your list: water the plants\n- 09:00 On your list: look at inbox.md\n\n"
)
NOTHING, GREET = "call nothing_to_report", "greet them in one line (at most 50 characters)"


@pytest.mark.parametrize(
    ("more", "language", "otherwise", "said"),
    [
        ("", "English", NOTHING, "On your list: water the plants"),
        ("", "Chinese", NOTHING, "您的列表上有：water the plants"),
        ("Due, failed or stuck:\n- the report failed\n\n", "English", NOTHING, "This needs you: the report failed"),
        (SAID, "English", GREET, ENGLISH.greeting),
    ],
)
async def test_a_check_in_reads_out_one_thing(
    tmp_path: Path, plans: Plans, more: str, language: str, otherwise: str, said: str
) -> None:
    words = CHECK_IN.format(more=more, language=language, otherwise=otherwise)

    assert await alone(tmp_path, plans).says(words) == said


async def test_what_was_said_today_is_not_said_again(tmp_path: Path, plans: Plans) -> None:
    await alone(tmp_path, plans).says(CHECK_IN.format(more=SAID, language="English", otherwise=NOTHING))

    assert plans.reasons == ["all of it was said today"]


# The user's next message


def news(text: str, *, untrusted: bool = True) -> NotificationMessage:
    about = "You have posted this here by yourself: a scheduled report (abc123), due Mon 23 Nov 09:00. "
    told = f"{about}What the person says next may be about it:"
    return NotificationMessage(
        kind="job", text=told, quoted=text, to_model=True, origin=NOT_KNOWN if untrusted else CLEAN
    )


@pytest.mark.parametrize("untrusted", [False, True])
@pytest.mark.parametrize("asked", ["why is it lower?", "为什么低了？"])
async def test_it_says_what_the_report_said(tmp_path: Path, asked: str, *, untrusted: bool) -> None:  # S2-48
    chat = chat_with(tmp_path)
    await chat.says("what is 1 + 1?")
    chat.agent.append_message(news("**Your report**\n\n- `a.csv`\n\n- readers: 9, lower than 12", untrusted=untrusted))

    assert await chat.says("what is 2 + 2?") == "2 + 2 = 4"
    assert "> - readers: 9, lower than 12\n\n" in await chat.says(asked)


async def test_where_there_was_no_report_it_says_what_it_can(tmp_path: Path) -> None:
    assert await chat_with(tmp_path).says("why is it lower?") == ENGLISH.hello
