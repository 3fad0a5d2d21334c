"""The command /btw: a question beside the conversation, which enters neither the history nor a run."""

import structlog

from agent_core.agent import Agent
from agent_core.cancel import CancelToken
from agent_core.clock import NewId
from agent_core.events import AgentEnd
from agent_core.file_handles import lack
from agent_core.loop.event_stream import unheard
from agent_core.loop.model_call import ModelCall, ModelRequest
from agent_core.messages import user
from agent_core.models.llm import FailureCause, LlmFailure
from agent_core.reasons import TerminalReason
from agent_core.untrusted import origin_of
from gateway.chat.replies import Answer, Quoting
from gateway.chat.run_pace import Pace
from gateway.commands.command import Command, Invocation, reply, too_soon
from gateway.permissions.access import Access
from gateway.permissions.rights import TALK, always
from gateway.runs.chat_models import ChatModels
from gateway.runs.model_failures import Reader, trouble_text
from gateway.security.secrets import Secrets
from gateway.texts.say import say

NOTE = (
    "This is asked aside. Answer briefly, from the conversation and from what you know. Do not go on with other work, "
    "promise nothing and call no tools: neither the question nor your answer will be in the conversation."
)
"""What the model is told beside the question."""

log = structlog.get_logger(__name__)


class AsideCommands:
    """The command /btw."""

    def __init__(self, models: ChatModels, pace: Pace, access: Access, secrets: Secrets, new_id: NewId) -> None:
        self._models = models
        self._pace = pace
        self._access = access
        self._secrets = secrets
        self._new_id = new_id

    async def ask(self, given: Invocation) -> Answer:
        """Answer a question with the conversation as context, without tools."""
        if refusal := too_soon(self._pace, given):
            return refusal
        with given.session.asides.asked(given.sender) as token:
            answer = await self._answer(given, token)
        return reply(say("btw_stopped", given.language)) if token.cancelled else answer

    async def _answer(self, given: Invocation, token: CancelToken) -> Answer:
        agent, run = await given.session.conversation.separate_agent(), self._new_id()
        await self._models.equip(agent, given.chat, given.role)
        # A budget without room refuses the question: nobody should get an answer to it much later.
        agent.loop.models.spending.begin_run(run, given.sender.id, can_wait=False)
        speaker = given.sender.name if given.in_group else None
        question = user(given.arguments.strip(), origin=given.origin, source=speaker, context=NOTE)
        agent.append_message(question)
        origin = agent.loop.tools.origin()
        request = agent.context.build_request(agent.state, with_tools=False)
        asked = ModelRequest(request, agent.session_id, token, origin)
        answer, failure = await ModelCall(agent.loop.caller, asked, unheard).answer()
        if not self._access.may_speak(given.chat, given.sender):
            return None  # the right was taken away meanwhile
        if failure is not None and failure.cause is FailureCause.HANDLES:
            raise lack(failure.message)
        if failure is not None:
            return reply(self._trouble(given, agent, failure, run))
        if not answer.text.strip():
            return reply(say("btw_no_answer", given.language, slash=given.slash))
        told = reply(f"{say('btw_answer', given.language)}\n\n{answer.text.strip()}")
        return Quoting(told, origin | origin_of(agent.state.messages))

    def _trouble(self, given: Invocation, agent: Agent, failure: LlmFailure, run: str) -> str:
        log.warning("a question aside failed", run=run, chat=str(given.chat), error=failure.message)
        end = AgentEnd(
            reason=TerminalReason.ERROR,
            messages=(),
            error=failure.message,
            failure=failure.kind,
            cause=failure.cause,
            retry_after_s=failure.retry_after_s,
            address=failure.address,
        )
        reader = Reader(given.language, given.slash, is_owner=given.is_owner and not given.in_group)
        return trouble_text(end, run[:8], agent.loop.model.id, reader, self._secrets)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "btw",
                {"en": "Ask aside, outside the conversation", "zh": "顺便提问，不计入对话"},
                self.ask,
                rights=always(TALK),
                arguments="QUESTION",
                example={"en": "what does idempotent mean?", "zh": "幂等是什么意思？"},
                waits_for_none=True,
            ),
        )
