"""Texts of approval questions and their outcomes. No part of a call may be hidden from the approver."""

import json
import re
import unicodedata
from collections.abc import Iterable
from itertools import groupby

from pydantic import JsonValue

from agent_core.late_pattern import LatePattern
from agent_core.messages import JsonObject
from agent_core.tools.shell import as_typed
from channels.base import Button, OutboundMessage
from channels.text import literal
from gateway.store.question import Question, QuestionState
from gateway.texts.say import language_of, say

MOST_CHARS = 120
"""Most characters of a call in the line that replaces an answered question."""
MOST_NAME = 40
SKILL_SCRIPT = "run_skill_script"
ALWAYS = "always"
"""Argument of /approve that also allows the same call from now on."""

_UNSEEN = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"))
_BLANK = LatePattern(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that are invisible, although by category they are letters or marks."""
_LOUD = LatePattern("`{3,}|<(?=[!@#])|\u27e8")
"""Text that ends a code block or mentions people on some platform, and our own notation for invisible characters."""
_SPACE = LatePattern("[ \n\t]{9,}")
_MOST_LINES, _MOST_COLUMNS, _MOST_TABS = 8, 40, 10
"""Longest whitespace shown as it is, in lines, columns and tabs. Text behind more of it could be overlooked."""
_PLAIN_NAME = LatePattern(r"[\w.-]+")

_CLOSING = {
    QuestionState.APPROVED: "ask_approved",
    QuestionState.DENIED: "ask_denied",
    QuestionState.EXPIRED: "ask_expired",
    QuestionState.WITHDRAWN: "ask_withdrawn",
}


def shown(text: str) -> str:
    """Return the text with invisible characters written out, such as ⟨U+202E⟩ for a change of direction."""
    loud = _LOUD.sub(_named, text)
    seen = _BLANK.sub(_named, "".join(_named_if_unseen(char) for char in loud))
    return _SPACE.sub(lambda found: _without_gaps(found[0]), seen)


def what_is_done(tool: str, arguments: JsonObject) -> str:
    """Return the whole call, line by line.

    A command or skill script reads as typed in a shell; other calls list their arguments by name.
    """
    if tool == SKILL_SCRIPT and (line := _script(arguments)):
        return shown(line)
    commands = [name for name, value in arguments.items() if isinstance(value, list)]
    command = _words(arguments[commands[0]]) if len(commands) == 1 else None
    plain = all(isinstance(value, int | float | None) for name, value in arguments.items() if name not in commands)
    if command is None or not plain:
        commands, command = [], tool
    others = [_argument(name, value) for name, value in arguments.items() if name not in commands]
    return "\n".join([shown(command), *others])


def question_message(question: Question, why: Iterable[str], slash: str) -> OutboundMessage:
    """Return the question with its buttons. `why` is sentences in the user's language, `slash` the command prefix."""
    language = language_of(question.language, "en")
    reason = " ".join([say("ask_title", language, tool=literal(question.tool)), *why])
    minutes = round((question.expires_at - question.asked_at) / 60)
    how = say("ask_how", language, slash=slash, id=question.id, minutes=minutes)
    yes, no = f"/approve {question.id}", f"/deny {question.id}"
    buttons = (
        Button(label=say("approve_button", language), action=yes, style="primary", says="yes"),
        *((Button(label=say("always_button", language), action=f"{yes} {ALWAYS}"),) if question.subject else ()),
        Button(label=say("deny_button", language), action=no, style="danger", says="no"),
    )
    if question.subject:
        about = "always_script" if question.tool == SKILL_SCRIPT else "always_command"
        how = f"{how} {say(about, language)}"
    text = f"{reason}\n\n```\n{question.what}\n```\n\n{how}"
    return OutboundMessage(markdown=text, buttons=(buttons,), asks=question.person)


def closing_line(question: Question, name: str = "", *, changed: bool = False) -> OutboundMessage:
    """Return the line that replaces an answered question.

    Args:
        name: Name of the person who answered.
        changed: True if the call is no longer what was approved.
    """
    language = language_of(question.language, "en")
    key = _CLOSING[question.state]
    if question.state is QuestionState.WITHDRAWN and changed:
        key = "ask_changed"
    if question.state is QuestionState.EXPIRED and question.answered_by is not None:
        key = "ask_unused"
    who = literal(one_line(shown(name), MOST_NAME)) or say("ask_somebody", language)
    return OutboundMessage(markdown=say(key, language, name=who, what=in_short(question)))


def in_short(question: Question) -> str:
    """Return the call as one line of Markdown code."""
    return command_in_short(question.what)


def command_in_short(what: str) -> str:
    line = one_line(what.replace("`", "'"), MOST_CHARS)
    return f"`{line}`"


def one_line(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def _named(found: re.Match[str]) -> str:
    return "".join(map(_named_char, found[0]))


def _named_char(char: str) -> str:
    return f"⟨U+{ord(char):04X}⟩"


def _without_gaps(space: str) -> str:
    """Count the whitespace characters if there are enough of them to hide text behind."""
    if space.count("\n") > _MOST_LINES:
        return _counted(space)
    return "\n".join(_counted(line) if _is_wide(line) else line for line in space.split("\n"))


def _is_wide(blanks: str) -> bool:
    return len(blanks) > (_MOST_TABS if "\t" in blanks else _MOST_COLUMNS)


def _counted(space: str) -> str:
    runs = ((char, len(list(run))) for char, run in groupby(space))
    return "".join(_named_char(char) if times == 1 else f"⟨U+{ord(char):04X} × {times}⟩" for char, times in runs)


def _named_if_unseen(char: str) -> str:
    unseen = char not in " \n\t" and unicodedata.category(char) in _UNSEEN
    return _named_char(char) if unseen else char


def _words(value: JsonValue) -> str | None:
    """Return a list of strings as a shell command line, or None for other values."""
    if not isinstance(value, list):
        return None
    words = [word for word in value if isinstance(word, str)]
    return as_typed(words) if words and len(words) == len(value) else None


def _script(arguments: JsonObject) -> str | None:
    """Return a skill script's call such as `chart/chart.py sales.csv`, or None if it does not fit that form."""
    skill, script, words = arguments.get("skill"), arguments.get("script"), arguments.get("args", [])
    known = arguments.keys() <= {"skill", "script", "args"}
    if not known or not isinstance(skill, str) or not isinstance(script, str) or not isinstance(words, list):
        return None
    if not _PLAIN_NAME.fullmatch(skill) or not script or not all(isinstance(word, str) for word in words):
        return None
    return as_typed(map(str, [f"{skill}/{script}", *words]))


def _argument(name: str, value: JsonValue) -> str:
    """Format an argument so that nothing in its name or value can pass for another argument.

    Values of several lines are indented, and unusual names quoted.
    """
    name = shown(name if _PLAIN_NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False))
    text = value if isinstance(value, str) else _words(value) or json.dumps(value, ensure_ascii=False)
    lines = shown(text).split("\n")
    if len(lines) == 1:
        return f"{name}: {lines[0]}"
    return "\n".join([f"{name}:", *(f"    {line}" for line in lines)])
