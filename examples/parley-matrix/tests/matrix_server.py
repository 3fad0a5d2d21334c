"""A small Matrix server on loopback, with one room."""

import asyncio
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

BOT, ANN, ROOM = "@parley:matrix.test", "@ann:matrix.test", "!room:matrix.test"
TOKEN = "syt_secret_token"  # noqa: S105 - of this server alone


class Matrix:
    """Ann's room with the bot, which is invited to it. Give `members` another one to make it a group."""

    def __init__(self) -> None:
        self.members = [ANN, BOT]
        self.calls: list[str] = []
        self._events: list[dict[str, Any]] = []
        self._by_key: dict[str, str] = {}
        self._has_joined = False
        self._waiting = 0
        self._news = asyncio.Condition()
        app = web.Application(middlewares=[self._checked])
        app.router.add_get("/_matrix/client/v3/account/whoami", self._whoami)
        app.router.add_get("/_matrix/client/v3/sync", self._sync)
        app.router.add_post("/_matrix/client/v3/rooms/{room}/join", self._join)
        app.router.add_get("/_matrix/client/v3/rooms/{room}/joined_members", self._members)
        app.router.add_put("/_matrix/client/v3/rooms/{room}/send/m.room.message/{key}", self._send)
        self.server = TestServer(app)

    @property
    def address(self) -> str:
        return str(self.server.make_url("/"))

    @property
    def is_asked(self) -> bool:
        """True while the bot waits for new events."""
        return self._waiting > 0

    async def says(self, text: str, sender: str = ANN) -> None:
        await self._add(sender, {"msgtype": "m.text", "body": text})

    def screen(self) -> list[str]:
        """Return the messages of the bot, each with its last text."""
        shown: dict[str, str] = {}
        for event in self._events:
            content = event["content"]
            if event["sender"] == BOT and "m.relates_to" in content:
                shown[content["m.relates_to"]["event_id"]] = content["m.new_content"]["body"]
            elif event["sender"] == BOT:
                shown[event["event_id"]] = content["body"]
        return list(shown.values())

    async def _add(self, sender: str, content: dict[str, Any]) -> str:
        async with self._news:
            number = len(self._events)
            event = {"event_id": f"${number}", "sender": sender, "type": "m.room.message", "content": content}
            self._events.append({**event, "origin_server_ts": 1_700_000_000_000 + number})
            self._news.notify_all()
        return f"${number}"

    @web.middleware
    async def _checked(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.calls.append(f"{request.method} {request.path}")
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.json_response({"errcode": "M_UNKNOWN_TOKEN", "error": "Unknown token"}, status=401)
        return await handler(request)

    async def _whoami(self, request: web.Request) -> web.Response:
        return web.json_response({"user_id": BOT})

    async def _join(self, request: web.Request) -> web.Response:
        self._has_joined = True
        return web.json_response({"room_id": ROOM})

    async def _members(self, request: web.Request) -> web.Response:
        return web.json_response({"joined": {member: {} for member in self.members}})

    async def _sync(self, request: web.Request) -> web.Response:
        if not self._has_joined:
            return web.json_response({"next_batch": "0", "rooms": {"invite": {ROOM: {}}}})
        since = int(request.query.get("since", "0"))
        self._waiting += 1
        try:
            async with self._news, asyncio.timeout(int(request.query["timeout"]) / 1000):
                await self._news.wait_for(lambda: len(self._events) > since)
        except TimeoutError:
            pass
        finally:
            self._waiting -= 1
        events = self._events[since:]
        rooms = {"join": {ROOM: {"timeline": {"events": events}}}} if events else {}
        return web.json_response({"next_batch": str(since + len(events)), "rooms": rooms})

    async def _send(self, request: web.Request) -> web.Response:
        key = request.match_info["key"]
        if key not in self._by_key:
            self._by_key[key] = await self._add(BOT, await request.json())
        return web.json_response({"event_id": self._by_key[key]})
