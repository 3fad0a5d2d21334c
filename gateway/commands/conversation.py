"""Commands about the conversation: /new, /stop, /rewind, /continue, /again, /language."""

from agent_core.origin import CLEAN
from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer, Said
from gateway.commands.command import Command, Invocation, reply, rewritten
from gateway.permissions.rights import LOOK, OTHERWISE, TALK, Right, Rights, always
from gateway.permissions.roles import Role
from gateway.runs.stop_and_continue import Continuing, Stopped
from gateway.runs.tasks.tasks import Tasks
from gateway.store.outbox import Outbox
from gateway.texts.say import LANGUAGES, Language, say

NAMES: dict[Language, str] = {"en": "English", "zh": "中文"}

MOST_DIGITS = 4
"""Digits of the number of exchanges to rewind."""


class ConversationCommands:
    """Commands about the current conversation and its run."""

    def __init__(self, tasks: Tasks, outbox: Outbox) -> None:
        self._tasks = tasks
        self._outbox = outbox

    async def new(self, given: Invocation) -> OutboundMessage:
        try:
            await given.session.stops.renew(given.sender)
        except PermissionError:
            return reply(say("not_yours", given.language))
        return reply("\n\n".join([say("new_session", given.language), *self._tasks_go_on(given)]))

    async def stop(self, given: Invocation) -> OutboundMessage | None:
        """Stop the run and questions aside. Their own messages tell that they were stopped; tasks are reported.

        The button names its run: pressed late, it does not stop the next one.
        """
        if given.pressed is not None and not given.session.stops.can_still_end(given.arguments.strip()):
            return reply(
                say(
                    "stop_too_late" if given.session.stops.can_stop(given.sender) else "nothing_to_stop", given.language
                )
            )
        asides = given.session.asides.stop(given.sender)
        try:
            stopped = await given.session.stops.stop(given.sender)
        except PermissionError:
            return None if asides else reply(say("not_yours", given.language))
        going_on = self._tasks_go_on(given)
        match Stopped.RUN if asides and stopped is Stopped.NOTHING else stopped:
            case Stopped.RUN:
                return reply(going_on[0]) if going_on else None
            case Stopped.WAITING:
                return reply("\n\n".join([say("stopped", given.language), *going_on]))
            case Stopped.NOTHING if given.session.asides.are_open:
                return reply(say("not_yours", given.language))
            case Stopped.NOTHING:
                return reply("\n\n".join([say("nothing_to_stop", given.language), *going_on]))

    async def go_on(self, given: Invocation) -> Answer:
        """Continue the run that a limit ended, by a message in the user's name. The button names that run."""
        match await given.session.continuing(given.sender, given.arguments.strip(), lambda reason: reason.is_limit):
            case Continuing.POSSIBLE:
                return Said(say("continue_words", given.language), CLEAN)
            case Continuing.NOTHING:
                return reply(say("continue_nothing", given.language))
            case Continuing.NOT_YOURS:
                return reply(say("continue_not_yours", given.language))

    async def rewind(self, given: Invocation) -> OutboundMessage:
        """Take the last exchanges out of the conversation. Messages and files stay."""
        wanted = given.arguments.strip() or "1"
        if not (wanted.isascii() and wanted.isdigit() and 0 < len(wanted) <= MOST_DIGITS and int(wanted)):
            return reply(say("rewind_usage", given.language, slash=given.slash))
        try:
            await given.session.stops.end_run(given.sender)
        except PermissionError:
            return reply(say("not_yours", given.language))
        count = await given.session.conversation.rewind(int(wanted), given.asked)
        if not count:
            return reply(say("rewind_nothing", given.language))
        return reply(say("rewound_one" if count == 1 else "rewound", given.language, count=count))

    def _tasks_go_on(self, given: Invocation) -> list[str]:
        """Return a sentence about background tasks that keep running, if there are any."""
        count = self._tasks.in_background(given.chat, given.sender)
        return [say("tasks_go_on", given.language, count=count, slash=given.slash)] if count else []

    async def language(self, given: Invocation) -> Answer:
        wanted = given.arguments.strip().lower()
        chosen = next((code for code in LANGUAGES if wanted in (code, NAMES[code].lower())), None)
        if chosen is None:
            buttons = tuple(Button(label=NAMES[code], action=f"/language {code}") for code in LANGUAGES)
            return OutboundMessage(markdown=say("language_ask", given.language), buttons=(buttons,))
        await given.session.conversation.speak(chosen)
        return rewritten(say("language_set", chosen))

    async def again(self, given: Invocation) -> OutboundMessage:
        """Show the messages that may not have arrived."""
        lost = await self._outbox.last_unconfirmed(given.chat)
        if not lost:
            return reply(say("nothing_unconfirmed", given.language))
        files = tuple(file for post in lost for file in post.message.attachments)
        text = "\n\n".join(post.message.markdown for post in lost)
        return OutboundMessage(markdown=text, buttons=lost[-1].message.buttons, attachments=files)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "again",
                {"en": "Show the last answer", "zh": "显示上一条回答"},
                self.again,
                rights=always(TALK),
                hidden=True,
            ),
            Command(
                "new",
                {"en": "Begin a new conversation", "zh": "开始新的对话"},
                self.new,
                rights=always(TALK),
                main=True,
            ),
            Command(
                "rewind",
                {"en": "Take back the last exchanges", "zh": "撤回最近的几轮对话"},
                self.rewind,
                rights=always(Right("talk", group=Role.MEMBER)),
                arguments="[N]",
                example="2",
                takes_back=True,
            ),
            Command(
                "stop", {"en": "Stop what is running", "zh": "停止当前任务"}, self.stop, rights=always(TALK), main=True
            ),
            Command(
                "continue",
                {"en": "Continue an answer that a limit ended", "zh": "从达到上限的地方继续"},
                self.go_on,
                rights=always(TALK),
            ),
            Command(
                "language",
                {"en": "Choose English or Chinese here", "zh": "选择语言"},
                self.language,
                rights=Rights({"": LOOK, OTHERWISE: Right("talk", group=Role.MEMBER)}),
                arguments="[en|zh]",
                example="zh",
            ),
        )
