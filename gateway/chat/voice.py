"""Transcribes voice messages, once each, and says what the person and the model are told of them."""

from dataclasses import dataclass

import structlog

from agent_core.clock import Clock
from agent_core.models.audio import AudioClient, AudioFailed, Transcript
from agent_core.sources import Sources, sent
from channels.attachments import Attachment
from channels.base import MessageReceived
from channels.text import literal
from gateway.permissions.access import Access
from gateway.permissions.budgets import Budgets, Charged, Lack
from gateway.security.secrets import Secrets
from gateway.store.budget import Payer, Spent
from gateway.store.recordings import Recording
from gateway.store.store import Store
from gateway.texts.amounts import USD
from gateway.texts.say import Language, say

MOST_SECONDS = 15 * 60
MOST_BYTES = 25 * 1024 * 1024
"""Limit of OpenAI's endpoint."""
TRIES = 3
PAUSE = 1.0
"""Seconds before the second try; twice as long before the third."""
UNKNOWN_PRICE = 0.02
"""Dollars a minute that are counted for models whose price is not known; hosted ones cost less."""
MOST_QUOTED = 400
"""Characters of a transcript that the person is shown."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Sound:
    """A received audio file."""

    place: int
    """Its position among the message's attachments."""
    attachment: Attachment
    content: bytes


@dataclass(frozen=True)
class Heard:
    """A voice message, as far as it was understood."""

    words: str = ""
    """What the sender says."""
    note: str = ""
    """A line for the model."""
    sources: Sources = ()
    """Set if somebody else speaks in it; the words are then in `note`."""
    shown: str = ""
    """A line for the person, in Markdown."""
    cost_usd: float = 0.0


class Transcriber:
    """Turns audio attachments into words. Without a client it tells each person once what is missing."""

    def __init__(
        self,
        client: AudioClient | None,
        store: Store,
        access: Access,
        secrets: Secrets,
        clock: Clock,
        *,
        budgets: Budgets | None = None,
    ) -> None:
        """`budgets` are charged for transcriptions; None for none."""
        self._client = client
        self._store = store
        self._access = access
        self._secrets = secrets
        self._clock = clock
        self._budgets = budgets

    async def hear(self, seq: int, event: MessageReceived, sound: Sound, language: Language) -> Heard:
        """Return what is said in an audio file of a message. A failure is told and loses nothing."""
        name = sound.attachment.safe_name
        known = await self._store.recordings.find(seq, sound.place)
        if known is not None:
            return self._heard(known, sound.attachment, language)
        if self._client is None:
            return await self._not_set_up(seq, event, name, language)
        if refusal := _refusal(sound, language):
            return Heard(note=f"[{name} was not transcribed: it is too long or too large]", shown=refusal)
        charged = await self._reserved(self._client, event, sound)
        if isinstance(charged, Lack):
            note = f"[{name} was not transcribed: a budget has no room for it]"
            return Heard(note=note, shown=say("voice_no_room", language, name=literal(name)))
        try:
            made = await self._transcribed(self._client, sound)
        except AudioFailed as error:
            self._settle(charged, self._client, 0.0)
            reason = self._secrets.mask(str(error))
            log.warning("a voice message was not transcribed", item=seq, reason=reason)
            key = "voice_unreadable" if error.is_unreadable else "voice_failed"
            shown = say(key, language, name=literal(name), reason=literal(reason))
            return Heard(note=f"[{name} was not transcribed: {reason}]", shown=shown)
        words = self._secrets.mask(made.text)
        seconds = made.seconds if made.seconds is not None else sound.attachment.seconds
        price = self._client.server.price_a_minute
        cost = 0.0 if price == 0 else price * seconds / 60 if price is not None and seconds is not None else None
        row = Recording(seq, sound.place, words, seconds, cost, self._client.server.model)
        await self._store.recordings.add(row)
        self._settle(charged, self._client, cost)
        return self._heard(row, sound.attachment, language)

    async def _reserved(self, client: AudioClient, event: MessageReceived, sound: Sound) -> Charged | Lack | None:
        """Reserve what the transcription may cost."""
        if self._budgets is None:
            return None
        price, seconds = client.server.price_a_minute, sound.attachment.seconds or MOST_SECONDS
        dollars = (UNKNOWN_PRICE if price is None else price) * seconds / 60
        person = self._access.person(event.chat, event.sender)
        payer = Payer(event.chat, f"voice-{event.event_id}", event.sender.id, person)
        return await self._budgets.reserve(payer, client.server.model, Spent(0, round(dollars * USD)))

    def _settle(self, charged: Charged | None, client: AudioClient, cost: float | None) -> None:
        """Settle a transcription; one of unknown cost counts in full, as an estimate."""
        if charged is None or self._budgets is None:
            return
        spent = charged.spent if cost is None else Spent(0, round(cost * USD))
        self._budgets.settle(charged, client.server.model, spent, "estimate" if cost is None else "settled")

    async def _transcribed(self, client: AudioClient, sound: Sound) -> Transcript:
        """Ask the server, again after failures that may pass. Raises AudioFailed."""
        if not sound.content:
            raise AudioFailed("the file is empty", is_unreadable=True)
        for tried in range(1, TRIES + 1):
            try:
                return await client.transcribe(sound.content, sound.attachment.safe_name, sound.attachment.mime_type)
            except AudioFailed as error:
                if not error.is_passing or tried == TRIES:
                    raise
                await self._clock.sleep(PAUSE * tried)
        raise AudioFailed("the server cannot be reached")

    def _heard(self, row: Recording, attachment: Attachment, language: Language) -> Heard:
        name, cost = attachment.safe_name, row.cost_usd or 0.0
        if not row.words:
            shown = say("voice_silent", language, name=literal(name))
            return Heard(note=f"[nothing is said in {name}]", shown=shown, cost_usd=cost)
        flat = " ".join(row.words.split())
        quoted = flat if len(flat) <= MOST_QUOTED else f"{flat[: MOST_QUOTED - 1]}…"
        shown = say("voice_heard", language, words=literal(quoted))
        if attachment.by:
            note = f"[{name}, transcribed, in which {attachment.by} or others speak]: {row.words}"
            return Heard(note=note, sources=(sent(attachment.by, name),), shown=shown, cost_usd=cost)
        return Heard(row.words, f"[{name} is the voice message; its transcript is above]", (), shown, cost)

    async def _not_set_up(self, seq: int, event: MessageReceived, name: str, language: Language) -> Heard:
        note = f"[{name} is audio; it was not transcribed, because no transcription is set up]"
        person = f"{event.chat.platform}:{event.chat.account}:{event.sender.id}"
        if not await self._store.recordings.is_first_notice(person, seq):
            return Heard(note=note)
        is_owner = self._access.is_owner(event.chat, event.sender)
        return Heard(note=note, shown=say("voice_not_set_up_owner" if is_owner else "voice_not_set_up", language))


def _refusal(sound: Sound, language: Language) -> str:
    """Return why a recording is too much to transcribe; empty if it is not."""
    name = literal(sound.attachment.safe_name)
    if (sound.attachment.seconds or 0) > MOST_SECONDS:
        return say("voice_too_long", language, name=name, most=MOST_SECONDS // 60)
    if len(sound.content) > MOST_BYTES:
        return say("voice_too_large", language, name=name, most=MOST_BYTES // 2**20)
    return ""
