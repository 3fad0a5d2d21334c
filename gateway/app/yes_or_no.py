"""Recognises "yes" and "no" as answers to open questions.

A word counts only if it is the whole message and its meaning is certain: the asked person said it, in the same chat,
after their only open question, and nobody else has spoken in between.
"""

from collections import OrderedDict
from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from agent_core.clock import Clock
from channels.base import Button, ButtonPressed, ChatKey, CommandInvoked, InboundEvent, MessageReceived, OutboundMessage
from channels.text import literal
from gateway.delivery.delivery import Delivery
from gateway.permissions.question_text import in_short, one_line
from gateway.schedule.jobs.preview import in_short as job_in_short
from gateway.store.job import JobState
from gateway.store.question import QuestionState
from gateway.store.rows import Offered
from gateway.store.store import Store
from gateway.texts.say import Language, say

OFFER_LASTS = 24 * 3600.0
"""Seconds after which a plain yes no longer answers a message."""
MOST_CHATS = 10_000
"""Most chats whose last sender is tracked."""
MOST_OFFERED = 4
_MOST_SHORT = 60
_LONGEST = 8

_APPROVE, _CONFIRM = "/approve ", "/cron confirm "


class Word(Enum):
    YES = frozenset({"yes", "y", "ok", "okay", "sure", "好", "好的", "可以", "行"})
    NO = frozenset({"no", "n", "不", "不行", "不要"})
    STOP = frozenset({"stop", "停"})


_WORDS = {said: word for word in Word for said in word.value}


def plain_word(event: MessageReceived) -> Word | None:
    """Return the word if it is the whole message. Captions and forwarded text do not count."""
    if event.attachments or event.shared or len(event.text) > _LONGEST:
        return None
    said = event.text.strip().rstrip(".!。！").casefold()
    return _WORDS.get(said)


class _Last(Struct, frozen=True):
    """Last sender in a chat and the time, and the time of the last message by anybody else before."""

    sender: str
    at: float
    others_at: float


class _Open(Struct, frozen=True):
    """A message of Parley that waits for a yes or no."""

    offered: Offered
    what: str
    """Summary in one line of Markdown."""

    @property
    def buttons(self) -> tuple[Button, ...]:
        return tuple(each for row in self.offered.post.message.buttons for each in row if each.says)

    def action(self, word: Word) -> str | None:
        says = "yes" if word is Word.YES else "no"
        return next((each.action for each in self.buttons if each.says == says), None)


class PlainWords:
    """Resolves plain words to the questions they answer."""

    def __init__(self, store: Store, delivery: Delivery, clock: Clock) -> None:
        self._store = store
        self._delivery = delivery
        self._clock = clock
        self._since = clock.time()
        self._last: OrderedDict[ChatKey, _Last] = OrderedDict()

    def heard(self, event: InboundEvent) -> None:
        """Record the sender and time of any message in a chat, whether or not it is addressed to the bot."""
        if not isinstance(event, MessageReceived | CommandInvoked):
            return
        before = self._last.pop(event.chat, None)
        others_at = float("-inf")
        if before is not None:
            others_at = before.others_at if before.sender == event.sender.id else before.at
        self._last[event.chat] = _Last(event.sender.id, event.at, others_at)
        if len(self._last) > MOST_CHATS:
            self._last.popitem(last=False)

    async def is_awaited(self, event: InboundEvent) -> bool:
        """Return True if an unaddressed message in a group answers a question to its sender."""
        is_answer = isinstance(event, MessageReceived) and plain_word(event) in (Word.YES, Word.NO)
        return is_answer and bool(await self._mine(event))

    async def meant(self, event: MessageReceived, language: Language) -> ButtonPressed | OutboundMessage | None:
        """Return the button press that the word stands for, or a question about which one is meant.

        Return None if it answers nothing and is an ordinary message.
        """
        word = plain_word(event)
        if word is None or word is Word.STOP:
            return None
        if not await self._mine(event):
            return None
        await self._delivery.caught_up(event.chat)
        mine = await self._mine(event)
        if not any(each.offered.said_at is not None and each.offered.said_at <= event.at for each in mine):
            return None
        [first, *more] = mine
        action = first.action(word)
        post = first.offered.post
        if more or action is None or post.message_id is None or not await self._is_certain(event, first.offered):
            return _which(mine, language)
        return ButtonPressed(
            event_id=event.event_id,
            chat=event.chat,
            sender=event.sender,
            at=event.at,
            addressed=event.addressed,
            message_id=post.message_id,
            action=action,
            by_word=True,
        )

    async def newer(self, event: MessageReceived, since: float, language: Language) -> OutboundMessage | None:
        """Return a question about which one is meant, if a yes or no may answer something shown after `since`."""
        if plain_word(event) is None:
            return None
        mine = await self._mine(event)
        is_newer = any(each.offered.said_at is not None and each.offered.said_at > since for each in mine)
        return _which(mine, language) if is_newer else None

    async def _mine(self, event: InboundEvent) -> list[_Open]:
        """Return the open questions to the sender in the chat."""
        offers = await self._store.outbox.offers(event.chat, self._clock.time() - OFFER_LASTS)
        mine = [each for each in offers if each.post.message.asks == event.sender.id]
        found = [(each, await self._what(each)) for each in mine]
        return [_Open(each, what) for each, what in found if what is not None]

    async def _what(self, offered: Offered) -> str | None:
        """Return what a yes would allow, or None if the question is closed."""
        message = offered.post.message
        action = next(each.action for row in message.buttons for each in row if each.says == "yes")
        if action.startswith(_APPROVE):
            question = await self._store.approvals.find(action.split()[1])
            is_open = question is not None and question.at(self._clock.time()).state is QuestionState.PENDING
            return in_short(question) if question is not None and is_open else None
        if action.startswith(_CONFIRM):
            job = await self._store.jobs.find(action.removeprefix(_CONFIRM))
            return job_in_short(job) if job is not None and job.state is JobState.DRAFT else None
        return literal(one_line(message.markdown.replace("*", ""), _MOST_SHORT))

    async def _is_certain(self, event: MessageReceived, offered: Offered) -> bool:
        """Return True if the word can only refer to this question."""
        said_at = offered.said_at
        if said_at is None or not event.at > said_at:
            return False
        if event.reply_to not in (None, event.chat.thread, offered.post.message_id):
            return False
        return self._nobody_else_spoke(event, said_at) and not await self._store.outbox.sent_unprompted(
            event.chat, said_at
        )

    def _nobody_else_spoke(self, event: MessageReceived, since: float) -> bool:
        """Return True if nobody else spoke since.

        In groups that is only known for messages since the process start, and while no other process can have heard
        some that are not for the bot.
        """
        if not self._delivery.channel(event.chat).is_group(event.chat):
            return True
        if self._delivery.sending.processes > 1:
            return False
        last = self._last.get(event.chat)
        if last is None or since < self._since or last.sender != event.sender.id:
            return False
        return last.others_at < since


def _which(found: Sequence[_Open], language: Language) -> OutboundMessage:
    """Return a message with all open questions, numbered, and their buttons."""
    few = found[:MOST_OFFERED]
    lines = [f"{number}. {each.what}" for number, each in enumerate(few, start=1)]
    rows = [
        tuple(Button(label=f"{number} {button.label}", action=button.action) for button in each.buttons)
        for number, each in enumerate(few, start=1)
    ]
    title = say("which_one" if len(found) > 1 else "is_it_this", language)
    return OutboundMessage(markdown="\n".join([title, "", *lines]), buttons=tuple(rows))
