"""Ways in which users, models and tools try to get a secret out, and a run of any number of them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from agent_core.messages import JsonObject
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Call, Calls, CutOff, Failure, Thinks, Turn, Waits, calls
from agent_core.origin import CLEAN
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from channels.base import ButtonPressed, MessageEdited, Sender
from channels.memory import Reply
from gateway.security.secrets import Secrets
from tests.gateway.cage import ANN, Cage, Exits, cage
from tests.gateway.canaries import FORMS, VALUES

log = structlog.get_logger(__name__)

Does = Callable[[ToolContext], Awaitable[ToolResult]]


@dataclass
class Attempt:
    """One turn: the user's message, the model's answers, and what the tool does."""

    number: int
    payload: str
    says: str = ""
    """Text of the message beside "go 17"."""
    script: tuple[Turn, ...] = ()
    does: Does | None = None
    slow: bool = False
    quoted: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    then: Callable[[Cage, int], Awaitable[object]] | None = None
    """Action of the user after the message is accepted."""

    def act(self, **arguments: str) -> Turn:
        return calls(("act", {"number": self.number, **arguments}))


Way = Callable[[Attempt], None]


def words(attempt: Attempt) -> None:
    attempt.script = (f"It is {attempt.payload}.",)


def words_that_are_cut(attempt: Attempt) -> None:
    attempt.script = (f"{'word ' * 798}{attempt.payload} and so on",)


def thinking(attempt: Attempt) -> None:
    attempt.script = (Thinks(f"I know {attempt.payload}", f"It is `{attempt.payload}`"),)


def arguments(attempt: Attempt) -> None:
    attempt.script = (Calls((attempt_call(attempt, attempt.payload),), f"I use {attempt.payload}"),)


def broken_arguments(attempt: Attempt) -> None:
    attempt.script = (Calls((Call("act", f'{{"number": "{attempt.payload}'),)),)


def wrong_arguments(attempt: Attempt) -> None:
    attempt.script = (calls(("act", {"number": attempt.payload})),)


def a_tool_that_is_not_there(attempt: Attempt) -> None:
    attempt.script = (calls((attempt.payload, {})),)


def cut_off(attempt: Attempt) -> None:
    attempt.script = (CutOff(f"so {attempt.payload}", (attempt_call(attempt, attempt.payload),)),)


def failure(attempt: Attempt) -> None:
    attempt.script = (Failure(FailureKind.FATAL, f"refused: {attempt.payload}", after_words=f"but {attempt.payload}"),)


def result(attempt: Attempt) -> None:
    async def does(_: ToolContext) -> ToolResult:
        return ToolResult.of(f"found {attempt.payload} there", CLEAN).model_copy(
            update={"details": {attempt.payload: [attempt.payload]}}
        )

    attempt.script, attempt.does = (attempt.act(),), does


def result_that_is_cut(attempt: Attempt) -> None:
    async def does(_: ToolContext) -> ToolResult:
        return ToolResult.of(f"{'x' * 9_980} {attempt.payload}{'y' * 20_000}{attempt.payload} {'x' * 9_980}", CLEAN)

    attempt.script, attempt.does = (attempt.act(),), does


def error(attempt: Attempt) -> None:
    async def does(_: ToolContext) -> ToolResult:
        raise ValueError(f"cannot open {attempt.payload}") from OSError(attempt.payload)

    attempt.script, attempt.does = (attempt.act(),), does


def error_that_is_cut(attempt: Attempt) -> None:
    async def does(_: ToolContext) -> ToolResult:
        raise ToolFailed(f"{'x' * 170} {attempt.payload}", f"{'x' * 50} {attempt.payload}")

    attempt.script, attempt.does = (attempt.act(),), does


def logs(attempt: Attempt) -> None:
    async def does(_: ToolContext) -> ToolResult:
        log.info("called", url=f"https://host/{attempt.payload}", deep={"a": [attempt.payload]})
        logging.getLogger("library").warning("no answer from %s", attempt.payload)
        log.error(attempt.payload, exc_info=RuntimeError(attempt.payload))
        return ToolResult.of("logged", CLEAN)

    attempt.script, attempt.does = (attempt.act(),), does


def a_file(attempt: Attempt) -> None:
    async def does(context: ToolContext) -> ToolResult:
        (context.workspace / "out.txt").write_text(attempt.payload)
        return ToolResult.of((context.workspace / "out.txt").read_text(), CLEAN)

    caption: JsonObject = {"path": "out.txt", "caption": f"This is {attempt.payload}"}
    attempt.script, attempt.does = (attempt.act(), calls(("send_file", caption))), does


def a_file_by_its_name(attempt: Attempt) -> None:
    attempt.script = (calls(("send_file", {"path": attempt.payload})),)


def a_person(attempt: Attempt) -> None:
    attempt.says = f"my key is {attempt.payload}"


def a_long_message(attempt: Attempt) -> None:
    attempt.says = f"{'x' * 3_980} {attempt.payload} {'x' * 17_000}"


def a_quotation(attempt: Attempt) -> None:
    attempt.quoted = f"{'x' * 990} {attempt.payload}"


def an_upload(attempt: Attempt) -> None:
    async def does(context: ToolContext) -> ToolResult:
        return ToolResult.of("\n".join(path.read_text() for path in context.workspace.glob("*.md")), CLEAN)

    attempt.files = {f"{attempt.payload.replace('/', '')[-100:]}.md": attempt.payload.encode()}
    attempt.script, attempt.does = (attempt.act(),), does


def a_command(attempt: Attempt) -> None:
    async def then(caged: Cage, room: int) -> None:
        await _types(caged, room, f"/{attempt.payload}")
        await _types(caged, room, f"/language {attempt.payload}")

    attempt.then = then


def an_edit_and_a_button(attempt: Attempt) -> None:
    async def then(caged: Cage, room: int) -> None:
        who, key = Sender(id=ANN, name=attempt.payload[:200]), caged.room(room)
        ids = {"chat": key, "sender": who, "at": 1.0, "message_id": f"m{attempt.number}"}
        edit = MessageEdited.model_validate({**ids, "event_id": f"edit{attempt.number}", "text": attempt.payload})
        await caged.channel.deliver(edit)
        press = ButtonPressed.model_validate({**ids, "event_id": f"p{attempt.number}", "action": attempt.payload})
        await caged.channel.deliver(press)

    attempt.then = then


def a_stop(attempt: Attempt) -> None:
    waits = Waits(asyncio.Event(), words=f"It is {attempt.payload} and")

    async def then(caged: Cage, room: int) -> None:
        await waits.reached.wait()
        await _types(caged, room, "/stop")

    attempt.script, attempt.then = (waits,), then


def slow_words(attempt: Attempt) -> None:
    attempt.script, attempt.slow = (f"{'word ' * 50}{attempt.payload} {'word ' * 9}",), True


def slow_tool(attempt: Attempt) -> None:
    async def does(context: ToolContext) -> ToolResult:
        for size in range(1, len(attempt.payload) + 1, max(1, len(attempt.payload) // 6)):
            context.on_update(ToolResult.of(f"at {attempt.payload[:size]}", CLEAN))
            await asyncio.sleep(0.1)
        if attempt.number % 3:
            return ToolResult.of(attempt.payload, CLEAN)
        raise ToolFailed(f"not now: {attempt.payload}", attempt.payload)

    attempt.script, attempt.does = (attempt.act(note=attempt.payload),), does


QUICK: tuple[Way, ...] = (
    words,
    words_that_are_cut,
    thinking,
    arguments,
    broken_arguments,
    wrong_arguments,
    a_tool_that_is_not_there,
    cut_off,
    failure,
    result,
    result_that_is_cut,
    error,
    error_that_is_cut,
    logs,
    a_file,
    a_file_by_its_name,
    a_person,
    a_long_message,
    a_quotation,
    an_upload,
    a_command,
    an_edit_and_a_button,
    a_stop,
)
SLOW: tuple[Way, ...] = (slow_words, slow_tool)
"""Ways that take so long that progress is shown."""


def attempt_call(attempt: Attempt, note: str) -> Call:
    return Call("act", {"number": attempt.number, "note": note})


def plan(turns: int, rooms: int) -> list[Attempt]:
    """Combine ways, forms and values in turn so that the pairs vary; some rounds use the slow ways."""
    forms = list(FORMS.values())
    attempts = []
    for number in range(turns):
        ways = SLOW if number // rooms % 9 == 1 else QUICK
        form, value = (
            forms[(number // len(QUICK) + number) % len(forms)],
            VALUES[(number * 3 + number // 7) % len(VALUES)],
        )
        attempt = Attempt(number + 1, form(value))
        ways[number % len(ways)](attempt)
        attempts.append(attempt)
    return attempts


async def escape(home: Path, secrets: Secrets, turns: int, rooms: int) -> Exits:
    """Make so many attempts in concurrent chats; return what got out, by exit."""
    attempts = plan(turns, rooms)
    by_number = {attempt.number: attempt for attempt in attempts}

    @tool(label="Acting on {note}")
    async def act(number: int, note: str = "", *, context: ToolContext) -> ToolResult:
        """Do what the turn says."""
        does = by_number[number].does
        return await does(context) if does else ToolResult.of(f"done with {note}", CLEAN)

    tools: list[Tool] = [act]
    async with cage(home, secrets, tools, most=turns * 6) as (caged, exits):
        caged.llm.scripts = {attempt.number: attempt.script for attempt in attempts}
        caged.llm.slow = {attempt.number for attempt in attempts if attempt.slow}
        for start in range(0, turns, rooms):
            together = attempts[start : start + rooms]
            if start // rooms % 6 == 5:  # keeps the requests small
                await asyncio.gather(*(_types(caged, room, "/new") for room in range(rooms)))
                await caged.app.settled()
            await asyncio.gather(*(_make(caged, room, attempt) for room, attempt in enumerate(together)))
            await caged.app.settled()
    return exits


async def _types(caged: Cage, room: int, text: str) -> None:
    await caged.channel.hears(text, sender=ANN, group=f"room{room}")


async def _make(caged: Cage, room: int, attempt: Attempt) -> None:
    said = f"go {attempt.number} {attempt.says}"
    reply = Reply(quoted=attempt.quoted)
    await caged.channel.hears(said, sender=ANN, group=f"room{room}", files=attempt.files, reply=reply)
    if attempt.then is not None:
        await attempt.then(caged, room)
