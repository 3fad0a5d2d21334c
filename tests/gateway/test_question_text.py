"""Questions show the whole call, and nothing in it can hide text, close the code block or mention users."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from channels.base import ChatKey
from channels.discord import render as discord
from channels.slack.mentions import without_mentions
from channels.telegram import render as telegram
from gateway.permissions.question_text import closing_line, question_message, shown, what_is_done
from gateway.store.question import Question, QuestionState

CHAT = ChatKey(platform="memory", account="here", chat="ann")


def question(what: str, state: QuestionState = QuestionState.PENDING, **more: object) -> Question:
    return Question(
        id="k7m2q9",
        run="run-1",
        session="session-1",
        call="call-1",
        chat=CHAT,
        person="ann",
        tool="run_command",
        fingerprint="f",
        what=what,
        language="en",
        asked_at=1_000.0,
        expires_at=1_600.0,
        state=state,
        **more,  # type: ignore[arg-type]
    )


def read_back(text: str) -> str:
    """Return the argument of `shown`, reconstructed from its result."""

    def char(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) * int(found[2] or 1)

    return re.sub("⟨U\\+([0-9A-F]+)(?: × ([0-9]+))?⟩", char, text)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("cat a.txt", "cat a.txt"),
        ("两个文件\n\tdone", "两个文件\n\tdone"),
        ("echo \u202egpj.exe", "echo ⟨U+202E⟩gpj.exe"),
        ("r\u200bm", "r⟨U+200B⟩m"),
        ("r\u00adm", "r⟨U+00AD⟩m"),
        ("a\u00a0b", "a⟨U+00A0⟩b"),
        ("a\u3164b", "a⟨U+3164⟩b"),
        ("x\ufe0f", "x⟨U+FE0F⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("\x1b[8mrm\x1b[0m", "⟨U+001B⟩[8mrm⟨U+001B⟩[0m"),
        ("ls\rrm", "ls⟨U+000D⟩rm"),
        ("a\u2028b", "a⟨U+2028⟩b"),
        ("```\nharmless", "⟨U+0060⟩⟨U+0060⟩⟨U+0060⟩\nharmless"),
        ("<!channel> 1 < 2", "⟨U+003C⟩!channel> 1 < 2"),
        ("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"),
        ("ls" + "\n" * 300 + "rm", "ls⟨U+000A × 300⟩rm"),
        ("ls" + " " * 300 + "rm", "ls⟨U+0020 × 300⟩rm"),
        ("ls" + "\n " * 9 + "rm", "ls" + "⟨U+000A⟩⟨U+0020⟩" * 9 + "rm"),
        ("ls" + "\t" * 9 + "  rm", "ls⟨U+0009 × 9⟩⟨U+0020 × 2⟩rm"),
        ("for:\n\n" + " " * 40 + "x", "for:\n\n" + " " * 40 + "x"),
        ("for:\n" + " " * 41 + "x", "for:\n⟨U+0020 × 41⟩x"),
    ],
)
def test_what_cannot_be_seen_is_named(text: str, seen: str) -> None:
    assert shown(text) == seen


@given(st.text() | st.text("`<!@ \n\t\r\u202e\u200b⟨⟩U+0060×1"))
@example("⟨U+0020 × 41⟩")
def test_no_two_texts_look_the_same_and_nothing_gets_out_of_the_code(text: str) -> None:
    seen = shown(text)

    assert read_back(seen) == text
    assert "```" not in seen
    assert all(char.isprintable() or char in "\n\t" for char in seen)


@given(
    st.lists(st.sampled_from([*"ab`~_*[]()<>!@#|\\$&{}=-+. \n\t", "http://a.b", "<b>", "&amp;", "<@1>"])).map("".join)
)
def test_on_every_platform_a_call_reads_as_it_is(text: str) -> None:
    asked = question(shown(f"x{text}x"))
    message = question_message(asked, ["It runs a program."], "/")

    assert asked.what in telegram.render(message.markdown).text
    assert asked.what in discord.render(message.markdown)
    assert asked.what in without_mentions(message.markdown)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"argv": ["python3", "my chart.py"]}, "python3 'my chart.py'"),
        ({"argv": ["make"], "seconds": 600}, "make\nseconds: 600"),
        ({"argv": []}, "tool\nargv: []"),
        ({"argv": ["sh", "-c", "a\nseconds: 1"], "seconds": 2}, "sh -c 'a\nseconds: 1'\nseconds: 2"),
        ({"url": "https://example.org/?q=1"}, "tool\nurl: https://example.org/?q=1"),
        ({"skill": "s", "script": "x.py", "args": ["a b"]}, "tool\nskill: s\nscript: x.py\nargs: 'a b'"),
        ({"to": "a", "text": "one\nto: b"}, "tool\nto: a\ntext:\n    one\n    to: b"),
        ({"a": {"b": [1, None]}, "c": True}, 'tool\na: {"b": [1, null]}\nc: true'),
        ({"to": "a", "x\nto: b\ny": "c"}, 'tool\nto: a\n"x\\nto: b\\ny": c'),
        ({"文件": "a"}, "tool\n文件: a"),
        ({}, "tool"),
    ],
)
def test_a_call_is_shown_whole(arguments: dict[str, object], what: str) -> None:
    assert what_is_done("tool", arguments) == what  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"skill": "chart", "script": "chart.py", "args": ["sales.csv"]}, "chart/chart.py sales.csv"),
        ({"skill": "chart", "script": "chart.py"}, "chart/chart.py"),
        ({"skill": "a", "script": "x y.py", "args": ["1; 2"]}, "'a/x y.py' '1; 2'"),
        ({"skill": "a", "script": "x.py", "args": ["\u202e"]}, "a/x.py '⟨U+202E⟩'"),
        ({"skill": "a/b", "script": "c.py"}, "run_skill_script\nskill: a/b\nscript: c.py"),
        ({"skill": "a", "script": "x.py", "args": "1"}, "run_skill_script\nskill: a\nscript: x.py\nargs: 1"),
        ({"skill": "a", "script": "x.py", "args": [1]}, "run_skill_script\nskill: a\nscript: x.py\nargs: [1]"),
        ({"skill": "a", "script": "x.py", "also": "b"}, "run_skill_script\nskill: a\nscript: x.py\nalso: b"),
        ({"skill": "a", "script": ""}, "run_skill_script\nskill: a\nscript: "),
    ],
)
def test_a_skill_s_script_reads_as_one_would_type_it(arguments: dict[str, object], what: str) -> None:
    assert what_is_done("run_skill_script", arguments) == what  # type: ignore[arg-type]


def test_the_question_names_what_why_and_how() -> None:
    message = question_message(question("ls"), ["It runs a program."], "!")

    assert message.markdown == (
        "**May I do this?** (run\\_command) It runs a program.\n\n```\nls\n```\n\n"
        "Say yes or no within 10 minutes, or `!approve k7m2q9` or `!deny k7m2q9`."
    )
    assert [(each.label, each.action) for each in message.buttons[0]] == [
        ("Allow once", "/approve k7m2q9"),
        ("Deny", "/deny k7m2q9"),
    ]


@pytest.mark.parametrize(
    ("state", "answered_by", "line"),
    [
        (QuestionState.APPROVED, "ann", "✓ Approved by Ann: `ls -l`"),
        (QuestionState.DENIED, "ann", "✗ Denied by Ann: `ls -l`"),
        (QuestionState.EXPIRED, None, "✗ Not answered in time: `ls -l`"),
        (QuestionState.EXPIRED, "ann", "✗ The approval expired before it was used: `ls -l`"),
        (QuestionState.WITHDRAWN, None, "✗ No longer needed: `ls -l`"),
    ],
)
def test_one_line_is_left_of_a_question(state: QuestionState, answered_by: str | None, line: str) -> None:
    left = closing_line(question("ls\n-l", state, answered_by=answered_by), "Ann")

    assert left.markdown == line
    assert left.buttons == ()


def test_neither_a_name_nor_a_long_call_breaks_the_line() -> None:
    left = closing_line(question("x`y" * 100, QuestionState.APPROVED, answered_by="m"), "**Ann**\u202e\n" * 9)

    assert left.markdown.startswith("✓ Approved by \\*\\*Ann\\*\\*⟨U+202E⟩ ")
    assert "\n" not in left.markdown
    assert left.markdown.count("`") == 2
    assert len(left.markdown) < 250


def test_somebody_without_a_name_is_somebody() -> None:
    left = closing_line(question("ls", QuestionState.DENIED, answered_by="m"), "")

    assert left.markdown == "✗ Denied by somebody: `ls`"
