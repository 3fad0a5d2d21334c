"""What people, Telegram and the model can send that nobody expects: each gets a clear outcome, and nothing is lost."""

import time
from typing import Literal

import pytest

from tests.emulators.model_script import Break, Failure, ToolUse, Turn, calls, says
from tests.emulators.telegram_updates import Json
from tests.end_to_end.program import API_KEY, Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

STRANGE: list[Json] = [
    {"message": {"message_id": "seven", "chat": None}},
    {"message": {}},
    {"message": [1, 2, 3]},
    {"message": {"message_id": 5, "date": 1, "chat": {"id": 1, "type": "private"}}},
    {"message": {"message_id": 5, "date": 1, "chat": {"id": 1, "type": "private"}, "from": {"id": "x"}, "text": "hi"}},
    {"brand_new_kind": {"id": 1}},
    {"callback_query": {"id": "1", "from": {"id": 1, "is_bot": False, "first_name": "A"}, "chat_instance": "1"}},
    {"poll": {"id": "1"}},
    {},
]


async def test_strange_updates_are_passed_over_and_the_next_message_answered(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Hello Ann."))

    for update in STRANGE:
        await stage.telegram.push(update)
    await chat.says(ann, "hello")

    await chat.until(lambda c: c.screen == ["Hello Ann."])
    await stage.heard()
    assert "malformed update update_id=" in stage.log


@pytest.mark.parametrize("words", ["\u200b\u200b\u200d", "\u2060", "\u00ad\ufe0f"])
async def test_words_that_nobody_can_see_are_none(stage: Stage, words: str) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Hello Ann."))

    await chat.says(ann, words)
    await chat.says(ann, "hello")

    await chat.until(lambda c: c.screen == ["Hello Ann."])
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
)
async def test_strange_words_reach_the_model_and_come_back(stage: Stage, words: str) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says(words))

    await chat.says(ann, words)
    await chat.until(lambda c: len(c.screen) == 1)

    assert len(stage.said) == 1
    assert len(stage.said[0]) >= len(words) - 8


async def test_half_of_a_character_is_replaced_and_not_passed_on(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Half \ud83d here."))

    await chat.says(ann, "half \ud83d there")

    await chat.until(lambda c: c.screen == ["Half \ufffd here."])
    assert stage.said == ["half \ufffd there"]


async def test_a_message_of_100000_characters_is_one_message_whose_rest_is_in_a_file(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    words = "".join(f"{number:07} " for number in range(12_500))
    stage.script.then(calls(ToolUse("list_dir")), says("A lot of numbers."))

    for start in range(0, len(words), 4096):
        await chat.says(ann, words[start : start + 4096])
    started = time.monotonic()
    await chat.until(lambda c: c.screen == ["A lot of numbers."], timeout=15)

    assert len(words) == 100_000
    assert time.monotonic() - started < 10
    assert len(stage.said) == 1
    assert "characters, is in the file message-" in stage.said[0]
    files = list(stage.program.home.glob(f"workspaces/*{chat.id}*/message-*.txt"))
    assert [file.read_text().split() for file in files] == [words.split()]


async def test_too_many_messages_at_once_are_told_to_wait_and_nothing_breaks(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    bob, with_bob = stage.private("Bob")
    stage.script.respond = lambda asked: says("Heard.")

    for number in range(30):
        await chat.says(ann, f"message {number}")
    await with_bob.says(bob, "hello")

    await with_bob.until(lambda c: c.screen == ["Heard."])
    await chat.until(lambda c: any("Please send it again in" in words for words in c.screen))
    await chat.until(lambda c: any("Heard." in words for words in c.screen))
    assert sum("Please send it again in" in words for words in chat.screen) == 1


@pytest.mark.parametrize("answer", ["", "   \n", "\u200b\u200b"], ids=["nothing", "spaces", "zero-width"])
async def test_a_model_that_answers_nothing_is_told_of(stage: Stage, answer: str) -> None:
    ann, chat = stage.private("Ann")
    stage.script.respond = lambda asked: says(answer)

    await chat.says(ann, "hello")

    await chat.until(lambda c: "The model gave no answer" in c.screen[0], timeout=15)


async def test_only_thoughts_are_no_answer(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.respond = lambda asked: says(thinking="Hm, what shall I say?")

    await chat.says(ann, "hello")

    await chat.until(lambda c: "The model gave no answer" in c.screen[0], timeout=15)
    assert "Hm" not in chat.screen[0]


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

    await chat.until(lambda c: c.screen == ["Something went wrong with my tool."], timeout=15)
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

    await chat.until(lambda c: "Enough." in c.screen[-1], timeout=15)
    stage.script.answers.clear()


@pytest.mark.parametrize("kind", ["cut", "end", "error", "garbage"])
async def test_a_stream_that_breaks_is_tried_again_and_answered_once(
    stage: Stage, kind: Literal["cut", "end", "error", "garbage"]
) -> None:
    ann, chat = stage.private("Ann")
    broken = Break(kind, after=2)
    stage.script.then(says("It is a long and windy road.", breaks=broken), says("Second try."))

    await chat.says(ann, "hello")

    await chat.until(lambda c: c.screen == ["Second try."], timeout=20)


async def test_a_cut_in_the_middle_of_a_call_runs_no_tool(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(
        calls(ToolUse("add_note", {"text": "half a note that is long"}), breaks=Break("cut", after=3)),
        calls(ToolUse("list_notes")),
        says("No notes."),
    )

    await chat.says(ann, "note something")

    await chat.until(lambda c: c.screen == ["No notes."], timeout=20)
    assert "half a note" not in stage.model.requests[-1].last_text


async def test_a_refused_key_is_told_without_the_key(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(Failure("auth", message=f"Incorrect API key provided: {API_KEY}"))

    await chat.says(ann, "hello")

    await chat.until(lambda c: "The model refused our key" in c.screen[0], timeout=15)
    assert API_KEY not in chat.screen[0]
