"""The Matrix channel, over the client-server API of a Matrix server."""

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from urllib.parse import quote
from uuid import uuid4

import aiohttp
from pydantic import JsonValue, TypeAdapter, ValidationError

from parley.channels import (
    AccountRefused,
    ChannelError,
    ChatKey,
    Inbox,
    Limits,
    Menu,
    OutboundMessage,
    Posted,
    split_markdown,
    until_answered,
)
from parley_matrix.config import Config
from parley_matrix.normalise import MILLISECONDS, normalise, original

WAITS = 30.0
"""Seconds for which the server holds a request for new events open."""
PAIR = 2
"""Members of a private chat."""
Json = dict[str, JsonValue]
_ROOMS = TypeAdapter(dict[str, Json])
_EVENTS = TypeAdapter(list[JsonValue])


def open_channel(config: Config, now: Callable[[], float]) -> "MatrixChannel":
    """Create the channel without connecting. It needs no clock, as Matrix dates every message."""
    return MatrixChannel(config)


class MatrixChannel:
    """One Matrix account. It shows no buttons: commands and plain words do the same."""

    name = "matrix"
    limits = Limits(max_text=16_000, calls_per_second=5.0, keeps_keys=True, id_form=r"@[^\s:|]{1,200}\|[^\s|]{1,200}")

    def __init__(self, config: Config) -> None:
        self._http = aiohttp.ClientSession(
            config.server, headers={"Authorization": f"Bearer {config.access_token.get_secret_value()}"}
        )
        self._groups: set[str] = set()
        """Rooms with more than one person beside the bot."""

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        await until_answered("Matrix", partial(self._listen, inbox))

    async def _listen(self, inbox: Inbox) -> None:
        """Pass on new messages until a call fails. Asking for what follows an answer confirms it.

        The first answer has the last messages of each room: those of a time in which Parley was off are new to it, and
        the others it has stored already.
        """
        bot = str((await self._call("GET", "account/whoami"))["user_id"])
        since: dict[str, str] = {}
        while True:
            answer = await self._call("GET", "sync", timeout=str(round(WAITS * MILLISECONDS) if since else 0), **since)
            rooms = _ROOMS.validate_python(answer.get("rooms") or {})
            for invited in rooms.get("invite") or {}:
                await self._call("POST", f"rooms/{quote(invited)}/join")
            for room, news in _ROOMS.validate_python(rooms.get("join") or {}).items():
                await self._read(inbox, bot, room, news)
            since = {"since": str(answer["next_batch"])}

    async def _read(self, inbox: Inbox, bot: str, room: str, news: Json) -> None:
        members = await self._call("GET", f"rooms/{quote(room)}/joined_members")
        joined = members.get("joined")
        is_private = isinstance(joined, dict) and len(joined) <= PAIR
        (self._groups.discard if is_private else self._groups.add)(room)
        timeline = news.get("timeline")
        events = timeline.get("events") if isinstance(timeline, dict) else None
        for event in _EVENTS.validate_python(events or []):
            said = normalise(event, room, bot)
            if said is not None and is_private:
                await inbox(said)

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """See `Channel.send`. The server answers a repeated key with the message that the first one made."""
        made = await self._put(chat, key, _content(message.markdown))
        return Posted(chat=chat, message_id=made)

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        replaced: Json = {"rel_type": "m.replace", "event_id": posted.message_id}
        content = {**_content(f"* {message.markdown}"), "m.new_content": _content(message.markdown)}
        await self._put(posted.chat, uuid4().hex, {**content, "m.relates_to": replaced})

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        parts = split_markdown(message.markdown, lambda part: len(part.encode()) <= self.limits.max_text)
        return tuple(message.model_copy(update={"markdown": part}) for part in parts) or (message,)

    def is_group(self, chat: ChatKey) -> bool:
        return original(chat.chat) in self._groups

    async def close(self) -> None:
        await self._http.close()

    async def _put(self, chat: ChatKey, key: str, content: Json) -> str:
        path = f"rooms/{quote(original(chat.chat))}/send/m.room.message/{quote(key, safe='')}"
        return str((await self._call("PUT", path, content))["event_id"])

    async def _call(self, method: str, path: str, body: Json | None = None, **query: str) -> Json:
        """Return the server's answer. Raises ChannelError."""
        url = f"/_matrix/client/v3/{path}"
        wait = aiohttp.ClientTimeout(total=2 * WAITS)
        try:
            async with self._http.request(method, url, params=query, json=body, timeout=wait) as response:
                answer = TypeAdapter(Json).validate_json(await response.read())
        except (aiohttp.ClientError, TimeoutError, ValidationError) as error:
            raise ChannelError(type(error).__name__, ambiguous=True) from error
        if response.status == HTTPStatus.UNAUTHORIZED:
            raise AccountRefused("Matrix refuses the access token")
        if not response.ok:
            waits = answer.get("retry_after_ms")
            permanent = response.status in {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST}
            raise ChannelError(
                str(answer.get("error") or response.reason),
                retry_after=waits / MILLISECONDS if isinstance(waits, int) else None,
                permanent=permanent and method == "PUT",
            )
        return answer


def _content(text: str) -> Json:
    return {"msgtype": "m.text", "body": text}
