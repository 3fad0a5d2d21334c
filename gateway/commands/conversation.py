"""Commands about the conversation itself: /new, /stop, /language."""

from channels.base import Button, OutboundMessage
from gateway.commands.table import Command, Invocation, reply, rewritten
from gateway.replies import Answer
from gateway.session import Stopped
from gateway.texts import LANGUAGES, Language, say

NAMES: dict[Language, str] = {"en": "English", "zh": "中文"}


async def new(given: Invocation) -> OutboundMessage:
    try:
        await given.session.renew(given.sender)
    except PermissionError:
        return reply(say("not_yours", given.language))
    return reply("\n\n".join([say("new_session", given.language), *_tasks_go_on(given)]))


async def stop(given: Invocation) -> OutboundMessage | None:
    """Says nothing of a run that is stopped: its own message then reads "Stopped". Tasks are another matter."""
    try:
        stopped = await given.session.stop(given.sender)
    except PermissionError:
        return reply(say("not_yours", given.language))
    going_on = _tasks_go_on(given)
    match stopped:
        case Stopped.RUN:
            return reply(going_on[0]) if going_on else None
        case Stopped.WAITING:
            return reply("\n\n".join([say("stopped", given.language), *going_on]))
        case Stopped.NOTHING:
            return reply("\n\n".join([say("nothing_to_stop", given.language), *going_on]))


def _tasks_go_on(given: Invocation) -> list[str]:
    """A sentence about what runs in the background all the same, or none."""
    count = given.desk.tasks.in_background(given.session.key, given.sender)
    return [say("tasks_go_on", given.language, count=count, slash=given.slash)] if count else []


async def language(given: Invocation) -> Answer:
    wanted = given.arguments.strip().lower()
    chosen = next((code for code in LANGUAGES if wanted in (code, NAMES[code].lower())), None)
    if chosen is None:
        buttons = tuple(Button(label=NAMES[code], action=f"/language {code}") for code in LANGUAGES)
        return OutboundMessage(markdown=say("language_ask", given.language), buttons=(buttons,))
    await given.session.conversation.speak(chosen)
    return rewritten(say("language_set", chosen))


COMMANDS = (
    Command("new", {"en": "Begin a new conversation", "zh": "开始新的对话"}, new),
    Command("stop", {"en": "Stop what is running", "zh": "停止当前任务"}, stop),
    Command("language", {"en": "Choose English or Chinese here", "zh": "选择语言"}, language, arguments="[en|zh]"),
)
