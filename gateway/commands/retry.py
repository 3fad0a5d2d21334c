"""The command /retry: has the last message answered again."""

import re
from collections.abc import Iterable

from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from agent_core.tools.registry import ToolRegistry, UnknownTool
from channels.commands import Suggestion
from channels.text import in_code
from gateway.chat.replies import Again, Answer, Said
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.commands.models import unknown_model
from gateway.commands.suggested import suggested_models
from gateway.permissions.access import Access
from gateway.permissions.rights import TALK, always
from gateway.runs.chat_models import ChatModels
from gateway.runs.stop_and_continue import Continuing
from gateway.store.exchanges import Exchange, Exchanges
from gateway.texts.say import say

_RUN = re.compile(r"[0-9a-f]{8}")
"""The start of a run's id, in the button under a failure."""
_HARMLESS = ("read", "net")
TASK = "task"
"""The tool that has a sub-agent work, with tools of its own."""


class RetryCommand:
    """Answers the last message again, or what failed, as the button under a failure asks."""

    def __init__(self, models: ChatModels, access: Access, exchanges: Exchanges) -> None:
        self._models = models
        self._access = access
        self._exchanges = exchanges

    async def retry(self, given: Invocation) -> Answer:
        wanted = given.arguments.strip()
        if _RUN.fullmatch(wanted) and self._models.named(wanted) is None:
            return await self._failed(given, wanted)
        model = self._models.named(wanted) if wanted else None
        if wanted and model is None:
            return unknown_model(self._models, given, wanted, "retry")
        return await self._again(given, model.id if model else None)

    async def _again(self, given: Invocation, model: str | None) -> Answer:
        """Take the last exchange out of the conversation and return its message."""
        if model is not None and not self._models.allows(given.role, model):
            return reply(say("model_not_for_you", given.language, model=in_code(model), slash=given.slash))
        session = given.session
        if not (session.stops.may_cut_off_run(given.sender) and await self._may_repeat(given)):
            return reply(say("retry_not_yours", given.language))
        await session.stops.cut_off_run()
        last = await last_exchange(self._exchanges, given)
        if last is None:
            return reply(say("retry_nothing", given.language))
        author = last.message.sender
        if not self._access.may_act_for(given.chat, given.sender, author.id):
            return reply(say("retry_not_yours", given.language))
        if model is not None and not self._models.allows(self._access.role(given.chat, author), model):
            return reply(say("model_not_for_them", given.language, model=in_code(model)))
        return await answered_again(given, last, model)

    async def _may_repeat(self, given: Invocation) -> bool:
        """Return False if the last message is that of somebody for whom the user may not act."""
        last, run = await last_exchange(self._exchanges, given), given.session.current.run
        if last is None or (run is not None and run.id not in last.runs):  # the run's message is about to be stored
            return True
        return self._access.may_act_for(given.chat, given.sender, last.message.sender.id)

    async def _failed(self, given: Invocation, run: str) -> Answer:
        """Have the model go on after a failure; the user's message and its files are still in the session."""
        match await given.session.continuing(given.sender, run, lambda reason: reason is TerminalReason.ERROR):
            case Continuing.POSSIBLE:
                return Said(say("retry_words", given.language), CLEAN)
            case Continuing.NOTHING:
                return reply(say("retry_nothing", given.language))
            case Continuing.NOT_YOURS:
                return reply(say("continue_not_yours", given.language))

    async def _names(self, typing: Unfinished) -> Iterable[Suggestion]:
        return suggested_models(self._models, typing)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "retry",
                {"en": "Answer the last message again", "zh": "重新回答上一条消息"},
                self.retry,
                rights=always(TALK),
                suggest=self._names,
                arguments="[MODEL]",
                example="anthropic/claude-sonnet-5",
                takes_back=True,
            ),
        )


async def last_exchange(exchanges: Exchanges, given: Invocation) -> Exchange | None:
    """Return the last exchange of the conversation, or the one that this very event has taken out already."""
    return await exchanges.last((await given.session.conversation.settings()).session, given.asked)


async def answered_again(given: Invocation, last: Exchange, model: str | None = None) -> Again:
    """Take the last exchange out of the conversation and return its message."""
    changed = await may_have_changed(given, last.tools | last.open_tools)
    await given.session.conversation.rewind(1, given.asked)
    return Again(last.message, model, say("retry_files", given.language) if changed else "")


async def may_have_changed(given: Invocation, tools: Iterable[str]) -> bool:
    """Return True if one of these tools may have written, sent or run something; unknown ones count."""
    known = (await given.session.conversation.agent()).loop.tools
    return any(may_change(known, name) for name in tools)


def may_change(tools: ToolRegistry, name: str) -> bool:
    """Return True for a tool that may write, send or run something, also by a sub-agent."""
    try:
        return name == TASK or tools.get(name).acts not in _HARMLESS
    except UnknownTool:
        return True
