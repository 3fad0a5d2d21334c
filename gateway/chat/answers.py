"""Composes what a chat sees of a run: the progress message and the answer."""

from collections.abc import Sequence

import structlog

from agent_core.agent import Agent
from agent_core.clock import Clock
from agent_core.events import AgentEnd
from agent_core.messages import AgentMessage, UserMessage
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from channels.base import Button, ChannelError, OutboundMessage, Posted, Sender
from gateway.delivery.delivery import Delivery
from gateway.delivery.edited_message import progress_key
from gateway.delivery.progress_message import SOON, YOUNG, ProgressMessage, stop_button
from gateway.delivery.reasoning import reasoning_of
from gateway.permissions.access import Access
from gateway.runs.answer import answer_posts, answer_text, answered_by, buttons_below, folded_posts, signed
from gateway.runs.cards import cards_of, repeats_cards
from gateway.runs.model_failures import Reader, trouble_text
from gateway.runs.run_buttons import RunButton, ratings_below
from gateway.security.secrets import Secrets
from gateway.store.rows import Post, Run, RunEnd, inbox_seqs
from gateway.store.store import Store
from gateway.texts.say import Language

log = structlog.get_logger(__name__)


class Answers:
    """Composes the messages of runs."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        access: Access,
        secrets: Secrets,
        clock: Clock,
        *,
        offered: Sequence[RunButton],
    ) -> None:
        """`offered` are the buttons about runs."""
        self._store = store
        self._delivery = delivery
        self._access = access
        self._secrets = secrets
        self._clock = clock
        self._offered = offered

    def progress(self, run: Run, language: Language, posted: Posted | None) -> ProgressMessage:
        """Begin to show a run. `posted` is its progress message of an earlier process, if there is one."""
        return ProgressMessage(
            masked_channel=self._delivery.masked_channel(run.chat),
            run=run,
            limiter=self._delivery.limiter(run.chat),
            store=self._store,
            clock=self._clock,
            language=language,
            posted=posted,
        )

    async def _model_before(self, run: Run) -> str | None:
        """Return the model of the answer before this one in the conversation."""
        newest = await self._store.run_records.newest(run.chat, None, 2)
        return next((each.model for each in newest if each.run != run.id and each.session == run.session), None)

    async def compose(
        self, run: Run, agent: Agent, end: AgentEnd, earlier: Sequence[AgentMessage], progress: ProgressMessage
    ) -> tuple[RunEnd, list[Post]]:
        """Return how a run has ended, and the messages that deliver its answer; none if cards are the answer.

        Args:
            earlier: What the run said in earlier processes.
        """
        language, channel = progress.language, self._delivery.channel(run.chat)
        said = [*earlier, *end.messages]
        usual = agent.loop.models.wanted or agent.loop.model.id
        model = answered_by(said, agent.loop.model.id)
        why = self._trouble(run, end, agent.loop.model.id, language) if end.reason is TerminalReason.ERROR else ""
        skills = agent.context.skills.names
        how = RunEnd(end.reason, model, end.error, skills, tuple(inbox_seqs([each.id for each in said])))
        heard = [message.heard for message in said if isinstance(message, UserMessage) and message.heard]
        is_told = end.reason is TerminalReason.COMPLETED and await self._is_told_by_cards(said)
        if is_told and not heard:
            return how, folded_posts(run, progress, self._clock.time(), self._offered)
        answer = "" if is_told else answer_text(said, end, agent.loop.limits, why, language)
        if answer and model != usual and model != await self._model_before(run):
            answer = signed(answer, model, language)
        message = OutboundMessage(
            markdown="\n\n".join(filter(None, [*heard, answer])),
            trouble=why,
            reply_to=run.reply_to,
            buttons=buttons_below(said, end, run, language) + self._ratings(run, end, answer, language),
            reasoning=reasoning_of(said, self._secrets) if channel.limits.folds_reasoning else "",
            calls=progress.calls,
        )
        masked_channel, picture = self._delivery.masked_channel(run.chat), await self._picture(run)
        now = self._clock.time()
        return how, answer_posts(masked_channel, run, message, progress, picture, now, offered=self._offered)

    def _ratings(self, run: Run, end: AgentEnd, answer: str, language: Language) -> tuple[tuple[Button, ...], ...]:
        """Return the buttons that rate a whole answer, where the platform has such."""
        is_rated = self._delivery.channel(run.chat).limits.rates_answers and end.reason is TerminalReason.COMPLETED
        return ratings_below(self._offered, run, language) if is_rated and answer else ()

    async def _is_told_by_cards(self, said: Sequence[AgentMessage]) -> bool:
        """Return True if the model's closing words only repeat cards that stand in the chat."""
        found = [await self._store.outbox.find(key) for key in cards_of(said)]
        return bool(found) and repeats_cards(said, [card.message.markdown for card in found if card is not None])

    async def shown(self, run: Run) -> Posted | None:
        """Return the run's progress message. If it was not recorded, look for it on the platform."""
        key = progress_key(run)
        noted = await self._store.outbox.find(key)
        if noted and noted.message_id:
            return Posted(chat=run.chat, message_id=noted.message_id)
        try:
            message = OutboundMessage(markdown="", buttons=stop_button(run.id, "en"))  # its words are not known
            known = await self._store.outbox.known(Post(key, run.id, run.chat, message, CLEAN, at=run.started))
            return (await self._delivery.masked_channel(run.chat).find(run.chat, message, key, known)).found
        except ChannelError as error:
            log.info("not looked for progress", run=run.id, reason=error.reason)
            return None

    def _trouble(self, run: Run, end: AgentEnd, usual: str, language: Language) -> str:
        """Return the reason for the failure, in detail only in an owner's direct chat."""
        channel = self._delivery.channel(run.chat)
        is_owner = self._access.is_owner(run.chat, Sender(id=run.person, name=""))
        reader = Reader(language, channel.limits.slash, is_owner=is_owner and not channel.is_group(run.chat))
        return trouble_text(end, run.id[:8], usual, reader, self._secrets)

    async def _picture(self, run: Run) -> Post | None:
        """Return this session's picture without a caption if it is the chat's last message and at most seconds old."""
        chat, masked_channel = run.chat, self._delivery.masked_channel(run.chat)
        newest = masked_channel.newest(chat) if masked_channel.channel.limits.captions else None
        post = await self._store.outbox.current(chat, newest) if newest is not None else None
        if post is None or not post.is_bare_picture_of(run.session) or self._clock.time() - post.at >= YOUNG:
            return None
        return post if self._delivery.limiter(chat).edit_queue(chat) < SOON else None
