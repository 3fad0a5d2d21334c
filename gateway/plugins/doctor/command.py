"""The command /doctor: tries in this very chat what Parley needs there, and says what is missing."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from channels.attachments import Attachment
from channels.base import ChannelError, OutboundMessage, Posted
from channels.capabilities import Emoji, Reacts, ShowsTyping
from channels.text import literal
from gateway.commands.command import Command, Invocation, reply
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.security.masked_channel import MaskedChannel
from gateway.security.private_file import write_private
from gateway.texts.say import say

FILE = "parley-doctor.txt"
MOST_REASON = 400
REACTION: Emoji = "👀"
WAITS = 10.0
"""Longest wait in seconds that the platform may ask for."""
TRIES = 4
PAUSE = 1.0
"""Seconds between two looks for room in the rate limit."""


class _Probe(Struct):
    """The calls tried so far, and what they left in the chat."""

    given: Invocation
    lines: list[str] = field(default_factory=list)
    left: list[Posted] = field(default_factory=list)

    async def tries(self, key: str, call: Callable[[], Awaitable[object]]) -> bool:
        """Make a call and note how it ended."""
        what = say(key, self.given.language)
        try:
            await _in_time(call)
        except ChannelError as error:
            self.lines.append(f"- ✗ {what}: {literal(error.reason[:MOST_REASON])}")
            return False
        self.lines.append(f"- ✓ {what}")
        return True


async def _in_time(call: Callable[[], Awaitable[object]]) -> None:
    """Make a call, again after the waits that the platform asks for. Raises ChannelError."""
    for _ in range(TRIES - 1):
        try:
            await call()
        except ChannelError as error:
            if error.retry_after is None or error.retry_after > WAITS:
                raise
            await asyncio.sleep(error.retry_after)
        else:
            return
    await call()


class DoctorCommand:
    """The command /doctor."""

    def __init__(self, core: Core) -> None:
        self._delivery = core.delivery

    async def doctor(self, given: Invocation) -> OutboundMessage:
        probe = _Probe(given)
        channel = self._delivery.masked_channel(given.chat)
        if channel.channel.limits.stays_written:  # a test message would stay, too
            return reply(say("doctor_terminal", given.language))
        try:
            await self._try_all(probe, channel)
        finally:
            await _clean_up(probe, channel)
        broken = any("✗" in line[:4] for line in probe.lines)
        end = say("doctor_broken" if broken else "doctor_well", given.language, slash=given.slash)
        return reply("\n".join([say("doctor_title", given.language), "", *probe.lines, "", end]))

    async def _try_all(self, probe: _Probe, channel: MaskedChannel) -> None:
        given = probe.given
        chat, language, key = given.chat, given.language, f"doctor-{given.asked}"
        text = OutboundMessage(markdown=say("doctor_probe", language), silent=True)

        async def post() -> None:
            probe.left.append(await channel.post(chat, text, f"{key}:0"))

        async def edit() -> None:
            await channel.rewrite(probe.left[0], text.model_copy(update={"markdown": f"{text.markdown} …"}))

        async def upload() -> None:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / FILE
                await asyncio.to_thread(write_private, path, [text.markdown])
                size = (await asyncio.to_thread(path.stat)).st_size
                file = Attachment(name=FILE, mime_type="text/plain", size=size, path=str(path))
                message = OutboundMessage(markdown="", attachments=(file,), silent=True)
                probe.left.append(await channel.post(chat, message, f"{key}:1"))

        if await probe.tries("doctor_post", post):
            await probe.tries("doctor_edit", edit)
        sign = channel.channel
        if isinstance(sign, Reacts) and probe.left:
            reacts, message = sign, probe.left[0]
            await probe.tries("doctor_react", lambda: _react(reacts, message))
        if isinstance(sign, ShowsTyping):
            await probe.tries("doctor_typing", lambda: sign.typing(chat))
        await probe.tries("doctor_upload", upload)
        if channel.deletes:
            await probe.tries("doctor_delete", lambda: _delete_last(probe, channel))

    @property
    def command(self) -> Command:
        return Command(
            "doctor",
            {"en": "Try what I need in this chat", "zh": "检查我在本聊天所需的权限"},
            self.doctor,
            rights=always(Right("write", Role.ADMIN, Role.ADMIN, refusal="only_admins")),
            after="privacy",
            offered_to=Role.ADMIN,
        )


async def _react(channel: Reacts, message: Posted) -> None:
    """Set a reaction and remove it. Raises ChannelError if the platform refuses that."""
    for emoji, old in ((REACTION, frozenset[Emoji]()), (None, frozenset({REACTION}))):
        if not await channel.react(message.chat, message.message_id, emoji, instead_of=old):
            raise ChannelError("the rate limit has no room for it now; try again in a minute", retry_after=PAUSE)


async def _delete_last(probe: _Probe, channel: MaskedChannel) -> None:
    """Delete a message of the probe. Raises ChannelError if the platform refuses that."""
    if probe.left:
        await channel.delete(probe.left[-1])
        probe.left.pop()


async def _clean_up(probe: _Probe, channel: MaskedChannel) -> None:
    """Remove what the probe left; a message that cannot be deleted says that it can be ignored."""
    gone = OutboundMessage(markdown=say("doctor_ignore", probe.given.language))
    for posted in probe.left:
        with suppress(ChannelError):
            await channel.remove(posted, gone)
