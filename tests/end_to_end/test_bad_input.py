"""Unexpected input of users, platforms and models has a clear outcome, and nothing is lost."""

import re
from typing import Literal

import pytest

from tests.emulators.model_script import Break, Failure, ToolUse, Turn, calls, says
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.stage import API_KEY, Stage, ends_with, is_answered, says_last, shows

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module")]


@where(lambda facts: facts.emulated)
async def test_strange_events_are_passed_over_and_the_next_message_answered(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Hello Ann."))

    for event in stage.net.strange:
        await stage.net.emulator.push(event)
    await chat.says(ann, "hello")

    await chat.until(shows("Hello Ann."))
    await stage.heard()
    assert len(stage.model.requests) == 1


@pytest.mark.parametrize(
    "words", ["\u200b\u200b\u200d", "\u2060", "\u00ad\ufe0f"], ids=["zero-width", "joiner", "hyphen"]
)
async def test_words_that_nobody_can_see_are_none(stage: Stage, words: str) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Hello Ann."))

    await chat.says(ann, words)
    await chat.says(ann, "hello")

    await chat.until(shows("Hello Ann."))
    assert stage.said == ["hello"]


@pytest.mark.parametrize(
    "words",
    [
        "\u202eevil\u202c txt.exe",
        "السلام عليكم",
        "tags \U000e0041\U000e0042 in it",
        "\x1b[31mred\x1b[0m",
        "👩‍👩‍👧‍👦" * 300,
        "[" * 2000 + "*" * 2000,
        "{model} %s {0}",
    ],
    ids=["backwards", "arabic", "tags", "colours", "families", "brackets", "braces"],
)
async def test_strange_words_reach_the_model_and_come_back(stage: Stage, words: str) -> None:
    ann, chat = stage.private("Ann")
    words = words[: stage.platform.facts.longest_said]
    stage.script.then(says(words))

    await chat.says(ann, words)
    await chat.until(is_answered)

    assert len(stage.said) == 1
    assert len(stage.said[0]) >= len(words) - 8


@where(lambda facts: facts.halves)
async def test_half_of_a_character_is_replaced_and_not_passed_on(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Half \ud83d here."))

    await chat.says(ann, "half \ud83d there")

    await chat.until(shows("Half \ufffd here."))
    assert stage.said == ["half \ufffd there"]


@where(lambda facts: facts.longest_said > 20_000)
async def test_a_long_message_is_kept_whole_in_a_file(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("A lot of numbers."))
    most = stage.platform.facts.longest_said

    words = "".join(f"{number:07} " for number in range(min(most, 100_000) // 8))
    await chat.says(ann, words)
    await chat.until(shows("A lot of numbers."))

    assert len(stage.said) == 1
    assert "characters, is in the file message-" in stage.said[0]
    files = list(stage.program.home.glob("workspaces/*/message-*.txt"))
    assert words.split() in [file.read_text().split() for file in files]


@where(lambda facts: facts.emulated)
async def test_many_messages_at_once_are_all_heard_in_order_and_keep_nobody_else_waiting(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    bob, with_bob = stage.private("Bob")
    stage.script.respond = lambda asked: says(f"heard {len(asked.texts('user'))}")

    for number in range(30):
        await chat.says(ann, f"message {number}")
    await with_bob.says(bob, "hello")

    await with_bob.until(shows("heard 1"))
    await chat.until(says_last("heard 30"))
    heard = max((request.texts("user") for request in stage.model.requests), key=len)
    assert [re.findall(r"message \d+", text)[-1] for text in heard] == [f"message {number}" for number in range(30)]


@pytest.mark.parametrize("answer", ["", "   \n", "\u200b\u200b"], ids=["nothing", "spaces", "zero-width"])
async def test_a_model_that_answers_nothing_is_told_of(stage: Stage, answer: str) -> None:
    ann, chat = stage.private("Ann")
    stage.script.respond = lambda asked: says(answer)

    await chat.says(ann, "hello")

    await chat.until(lambda c: "The model gave no answer" in c.screen[0])


async def test_only_thoughts_are_no_answer(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.respond = lambda asked: says(thinking="Hm, what shall I say?")

    await chat.says(ann, "hello")

    await chat.until(lambda c: "The model gave no answer" in c.screen[0])
    assert "Hm" not in chat.screen[0]


@where(lambda facts: facts.name != "web")  # the web page folds it
async def test_how_the_model_came_to_its_answer_is_not_shown(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.respond = lambda asked: Turn("Oslo.", thinking="Rome is south of it.", per_chunk=0.5)

    await chat.says(ann, "Which is further north?")

    await chat.until(ends_with("Oslo."))
    assert not any("Rome" in words for said in chat.bot_messages for words in said.history)


@pytest.mark.parametrize(
    "tool",
    [
        ToolUse("calculator", '{"expression": '),
        ToolUse("calculator", "[1, 2]"),
        ToolUse("calculator", {"expression": ["1", {}]}),
        ToolUse("calculator", {"term": "1+1", "expression": "1+1", "extra": None}),
        ToolUse("calculator", {"expression": "1+" * 500_000}),
        ToolUse("calculator", '{"expression": ' + "[" * 10_000 + "]" * 10_000 + "}"),
        ToolUse("rocket", {"to": "moon"}),
        ToolUse("read_file", {"path": "../../../../etc/passwd"}),
        ToolUse("read_file", {"path": "/proc/self/environ"}),
        ToolUse("read_file", {"path": "a\x00b"}),
    ],
    ids=["cut", "list", "types", "extra", "megabyte", "nested", "unknown", "climbs", "absolute", "null"],
)
async def test_a_call_that_makes_no_sense_is_an_error_for_the_model(stage: Stage, tool: ToolUse) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(Turn(tools=(tool,), chunk=4096), says("Something went wrong with my tool."))

    await chat.says(ann, "do something odd")

    await chat.until(shows("Something went wrong with my tool."))
    result = stage.model.requests[-1].messages[-1]
    assert result["role"] == "tool"
    assert len(str(result["content"])) < 25_000
    assert API_KEY not in str(result["content"])
    assert "root:" not in str(result["content"])


async def test_many_calls_of_one_id_are_answered_one_by_one(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    uses = [ToolUse("calculator", {"expression": f"{number}+1"}, id="same") for number in range(200)]
    stage.script.then(calls(*uses), says("Enough."), says("Enough."))

    await chat.says(ann, "calculate a lot")

    await chat.until(says_last("Enough."))
    stage.script.answers.clear()


async def test_a_stream_that_breaks_is_tried_again_and_answered_once(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("It is a long and windy road.", breaks=Break("cut", after=2)), says("Second try."))

    await chat.says(ann, "hello")

    await chat.until(shows("Second try."))


@only("telegram")
@pytest.mark.parametrize("kind", ["end", "error", "garbage"])
async def test_however_a_stream_breaks_it_is_tried_again(
    stage: Stage, kind: Literal["end", "error", "garbage"]
) -> None:
    """Runs on one platform only, because each case takes two seconds and does not depend on the platform."""
    ann, chat = stage.private("Ann")
    stage.script.then(says("It is a long and windy road.", breaks=Break(kind, after=2)), says("Second try."))

    await chat.says(ann, "hello")

    await chat.until(shows("Second try."))


@only("telegram")
async def test_a_cut_in_the_middle_of_a_call_runs_no_tool(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(
        calls(
            ToolUse("write_file", {"path": "note.txt", "content": "half a note that is long"}),
            breaks=Break("cut", after=3),
        ),
        calls(ToolUse("list_dir", {"path": "."})),
        says("No notes."),
    )

    await chat.says(ann, "note something")

    await chat.until(shows("No notes."))
    assert "note.txt" not in stage.model.requests[-1].last_text


async def test_a_refused_key_is_told_without_the_key(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(Failure("auth", message=f"Incorrect API key provided: {API_KEY}"))

    await chat.says(ann, "hello")

    await chat.until(lambda c: "The model's provider refused the key" in c.screen[0])
    assert API_KEY not in chat.screen[0]
