"""Transcribes voice messages, once each, and says what the person and the model are told of those that it cannot."""

import structlog

from agent_core.file_handles import raise_lack
from channels.text import literal
from gateway.chat.sounds import Heard, Sound
from gateway.plugin import Core
from gateway.plugins.voice.audio import AudioClient, AudioFailed, AudioServer, Transcript
from gateway.plugins.voice.audio_spending import AudioCall, AudioSpending, NoRoom
from gateway.plugins.voice.lengths import told_length
from gateway.plugins.voice.table import Recording, Recordings
from gateway.store.budget import Payer, Spent
from gateway.store.rows import InboxItem, Run
from gateway.texts.say import Language, say

MOST_SECONDS = 15 * 60
MOST_BYTES = 25 * 1024 * 1024
"""Limit of OpenAI's endpoint."""
MOST_QUOTED = 400
"""Characters of a transcript that the person is shown."""

log = structlog.get_logger(__name__)


class Transcriber:
    """Turns audio attachments into words. Without a server it tells each person once what is missing."""

    def __init__(self, server: AudioServer | None, core: Core) -> None:
        self._client = AudioClient(server) if server else None
        self._recordings = core.store.table(Recordings)
        self._access = core.access
        self._secrets = core.secrets
        self._spending = AudioSpending(core.budgets, core.settings, core.clock)

    async def hear(self, item: InboxItem, run: Run | None, sound: Sound, language: Language) -> Heard:
        """Return what is said in an audio file of a message. A failure is told and loses nothing.

        `run` is the one that answers the message, and is charged for it.
        """
        seq, name = item.seq, sound.attachment.safe_name
        known = await self._recordings.find(seq, sound.place)
        if known is not None:
            return _heard(known, name, language)
        if self._client is None:
            return await self._not_set_up(item, name, language)
        if refusal := _refusal(sound, language):
            return Heard(note=f"[{name} was not transcribed: it is too long or too large]", shown=refusal)
        try:
            row = await self._transcribed(self._client, item, run, sound)
        except NoRoom:
            note = f"[{name} was not transcribed: a budget has no room for it]"
            return Heard(note=note, shown=say("voice_no_room", language, name=literal(name)))
        except AudioFailed as error:
            raise_lack(error)
            reason = self._secrets.mask(str(error))
            log.warning("a voice message was not transcribed", item=seq, reason=reason)
            key = "voice_unreadable" if error.is_unreadable else "voice_failed"
            shown = say(key, language, name=literal(name), reason=literal(reason))
            return Heard(note=f"[{name} was not transcribed: {reason}]", shown=shown)
        await self._recordings.add(row)
        return _heard(row.words, name, language)

    async def _transcribed(self, client: AudioClient, item: InboxItem, run: Run | None, sound: Sound) -> Recording:
        """Have a recording transcribed. Raises AudioFailed and NoRoom."""
        if not sound.content:
            raise AudioFailed("the file is empty", is_unreadable=True)
        server, file, told = client.server, sound.attachment, told_length(sound)

        def spent(made: Transcript) -> Spent | None:
            seconds = told if made.seconds is None else made.seconds
            return None if seconds is None else self._spending.of_recording(server, seconds)

        made = await self._spending.made(
            AudioCall(self._payer(item, run), server, self._spending.of_recording(server, told or MOST_SECONDS)),
            lambda: client.transcribe(sound.content, file.safe_name, file.mime_type),
            spent,
        )
        words, event = self._secrets.mask(made.text), item.event
        seconds = told if made.seconds is None else made.seconds
        return Recording(item.seq, sound.place, event.chat, event.sender.id, words, seconds, server.model)

    def _payer(self, item: InboxItem, run: Run | None) -> Payer:
        event = item.event
        person = self._access.person(event.chat, event.sender)
        return Payer(event.chat, run.id if run else "", event.sender.id, person)

    async def _not_set_up(self, item: InboxItem, name: str, language: Language) -> Heard:
        event = item.event
        note = f"[{name} is audio; it was not transcribed, because no transcription is set up]"
        person = f"{event.chat.platform}:{event.chat.account}:{event.sender.id}"
        if not await self._recordings.is_first_notice(person, item.seq):
            return Heard(note=note)
        is_owner = self._access.is_owner(event.chat, event.sender)
        return Heard(note=note, shown=say("voice_not_set_up_owner" if is_owner else "voice_not_set_up", language))


def _refusal(sound: Sound, language: Language) -> str:
    """Return why a recording is too much to transcribe; empty if it is not."""
    name = literal(sound.attachment.safe_name)
    if (told_length(sound) or 0) > MOST_SECONDS:
        return say("voice_too_long", language, name=name, most=MOST_SECONDS // 60)
    if len(sound.content) > MOST_BYTES:
        return say("voice_too_large", language, name=name, most=MOST_BYTES // 2**20)
    return ""


def _heard(words: str, name: str, language: Language) -> Heard:
    if not words:
        return Heard(note=f"[nothing is said in {name}]", shown=say("voice_silent", language, name=literal(name)))
    flat = " ".join(words.split())
    quoted = flat if len(flat) <= MOST_QUOTED else f"{flat[: MOST_QUOTED - 1]}…"
    return Heard(words, shown=say("voice_heard", language, words=literal(quoted)))
