"""A strict emulation of Telegram's Bot API on loopback, with users that a test controls.

    async with TelegramEmulator() as telegram:
        bot = Bot(telegram.token, base_url=telegram.bot_url, base_file_url=telegram.file_url)
        ann = telegram.person("Ann", language="en")
        chat = telegram.private(ann)
        await chat.says(ann, "/start")
        ...
        await chat.until(lambda c: "Hello" in c.screen[-1])
        assert telegram.violations == []

It answers as the real service does, as far as that is known, and refuses everything else.
"""

import itertools
import json
import time
from collections.abc import Callable, Sequence

from aiohttp import web
from pydantic import JsonValue, ValidationError

from parley.testing.emulators.control import Call, Effect
from parley.testing.emulators.server import LoopbackServer
from parley.testing.emulators.telegram_chat import Chat
from parley.testing.emulators.telegram_flood import FloodPolicy
from parley.testing.emulators.telegram_methods import DRAFT, FLOOD_COUNTED, METHODS, BotApi
from parley.testing.emulators.telegram_params import (
    DeleteWebhook,
    Fields,
    GetUpdates,
    SetWebhook,
    TelegramError,
    bad_request,
    read_fields,
)
from parley.testing.emulators.telegram_state import Person, Room, World
from parley.testing.emulators.telegram_updates import FIRST_ID, Json, Superseded, UpdateQueue

BOT_ID = 4_242_000_001
CONFLICT = "Conflict: "
OTHER_POLLER = "terminated by other getUpdates request; make sure that only one bot instance is running"
WEBHOOK_ACTIVE = "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"


class TelegramEmulator(LoopbackServer):
    """Telegram for one bot. `flood.on = False` lifts the rate limits.

    To emulate a second Telegram for a bot that remembers the first, pass a higher `first_id`: ids of messages, updates
    and presses never repeat.
    """

    def __init__(
        self,
        *,
        username: str = "parley_bot",
        flood: bool = True,
        privacy: bool = False,
        first_id: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock)
        self.bot = Person(BOT_ID, "Parley", username, is_bot=True)
        self.token = f"{BOT_ID}:EMULATED"
        self.flood = FloodPolicy(on=flood)
        self.updates = UpdateQueue(self.faults, self.changes, max(FIRST_ID, first_id))
        self.webhook = ""
        self.lacks: frozenset[str] = frozenset()
        """Methods that this server is too old for."""
        """False for a server of one's own from before June 2026."""
        self.double_polls = 0
        """Polls that came while a living client had another one open."""
        self._poller: web.Request | None = None
        self._world = World(self.bot, self.updates, self.changes, clock, privacy, first_id=first_id)
        self._api = BotApi(self._world)
        self._ids = itertools.count(1)
        self._first_id = first_id

    @property
    def bot_url(self) -> str:
        """Address for the SDK's `base_url`, to which it appends the token."""
        return f"{self.url}/bot"

    @property
    def file_url(self) -> str:
        """Address for the SDK's `base_file_url`."""
        return f"{self.url}/file/bot"

    def go_by(self, now: Callable[[], float]) -> None:
        """Use this clock for the dates of messages."""
        self._world.now = now

    # Users

    def person(
        self, name: str, *, language: str | None = None, username: str | None = None, is_bot: bool = False
    ) -> Person:
        """Create a user. Ids do not fit into 32 bits, like real ones."""
        return Person(7_000_000_000 + next(self._ids), name, username, language, is_bot)

    def private(self, person: Person, *, topics: bool = False) -> Chat:
        """Return the private chat of this user with the bot; its id is the user's. It may have topics, as a forum."""
        return self._open(Room(person.id, "private", "", [person], topics, first_id=self._first_id))

    def group(self, title: str, people: Sequence[Person] = (), *, forum: bool = False, supergroup: bool = True) -> Chat:
        """Create a group with the bot; `supergroup=False` for one on which `migrate()` is called."""
        number = next(self._ids)
        kind = "supergroup" if supergroup or forum else "group"
        room_id = -1_000_000_000_000 - number if kind == "supergroup" else -number
        return self._open(Room(room_id, kind, title, list(people), forum, first_id=self._first_id))

    def _open(self, room: Room) -> Chat:
        return Chat(self._world, self._world.rooms.setdefault(room.id, room))

    @property
    def commands(self) -> dict[str, str]:
        """Command menu of private chats: descriptions by name."""
        menus = self._world.command_menus
        return menus.get(("all_private_chats", "")) or menus.get(("default", ""), {})

    @property
    def command_menus(self) -> dict[tuple[str, str], dict[str, str]]:
        """All menus by scope ("default", "all_private_chats", "chat:42", ...) and language ("" for any)."""
        return self._world.command_menus

    @property
    def profile(self) -> dict[str, str]:
        """Name and descriptions that the bot has set."""
        return self._world.profile

    @property
    def polling(self) -> bool:
        """True if a living bot has an open long poll."""
        return self.updates.polling and self._poller is not None and self._poller.transport is not None

    # Faults

    async def push(self, update: Json) -> None:
        """Send any update, also malformed and unknown ones; without an `update_id` it gets the next one."""
        self.updates.push(update)

    def redeliver(self, count: int = 1) -> None:
        """Deliver the last confirmed updates once more."""
        self.updates.redeliver(count)

    @property
    def calls_in_window(self) -> int:
        """Number of messages and edits in chats that had been told to wait."""
        return self.flood.calls_in_window

    # Server

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.route("*", "/bot{token:[^/]+}/{method}", self._call),
            web.get("/file/bot{token:[^/]+}/{path:.+}", self._download),
        ]

    async def _call(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["token"] != self.token:
            return _failure(TelegramError(401, "Unauthorized"))
        try:
            fields = await read_fields(request)
        except TelegramError as error:
            return _failure(error)
        except ValueError:
            self.violate(f"{request.path}: body cannot be read")
            return _failure(bad_request("can't parse the request body"))
        call = Call(request.match_info["method"], fields, self.clock())
        if call.method == "getUpdates":
            self.double_polls += self.polling
            self._poller = request
        chat = self._counted_chat(call)
        if chat is not None:
            self.flood.note(chat.id, call.at, draft=call.method == DRAFT)
        return await self.perform(
            request, call, lambda: self._process(call, fields, chat), lambda effect: self._refuse(effect, call, chat)
        )

    def _counted_chat(self, call: Call) -> Room | None:
        """Return the chat whose flood control applies to this call."""
        chat_id = str(call.params.get("chat_id", ""))
        if call.method not in FLOOD_COUNTED or not chat_id.lstrip("-").isdecimal():
            return None
        return self._world.rooms.get(int(chat_id))

    async def _process(self, call: Call, fields: Fields, chat: Room | None) -> web.Response:
        try:
            if chat is not None:
                self._control_flood(call, chat)
            return _success(await self._result(call.method, fields))
        except TelegramError as error:
            return _failure(error)
        except ValidationError as error:
            return _failure(self._misused(call.method, error))

    def _control_flood(self, call: Call, chat: Room) -> None:
        seconds = self.flood.refuse(chat.id, self.clock(), group=not chat.private, draft=call.method == DRAFT)
        if seconds is not None:
            raise _too_many(seconds)

    def _refuse(self, effect: Effect, call: Call, chat: Room | None) -> web.Response:
        """Return an injected error; a 429 in a chat opens a rate limit window there, as real ones do."""
        if effect.status == 429:
            seconds = effect.retry_after or 1
            if chat is not None:
                self.flood.open_window(chat.id, seconds, self.clock(), draft=call.method == DRAFT)
            return _failure(_too_many(seconds))
        return _failure(TelegramError(effect.status or 500, "Internal Server Error"))

    async def _result(self, method: str, fields: Fields) -> JsonValue:
        match method:
            case "getUpdates":
                return await self._get_updates(GetUpdates.model_validate(fields))
            case "setWebhook":
                self._set_webhook(SetWebhook.model_validate(fields).url)
                return True
            case "deleteWebhook":
                DeleteWebhook.model_validate(fields)
                self._set_webhook("")
                return True
            case "getWebhookInfo":
                return {
                    "url": self.webhook,
                    "has_custom_certificate": False,
                    "pending_update_count": self.updates.unconfirmed,
                }
        if method in self.lacks:
            raise TelegramError(404, "Not Found: method not found")
        run = METHODS.get(method)
        if run is None:
            self.violate(f"unknown method {method}")
            raise TelegramError(404, "Not Found: method not found")
        return run(self._api, fields)

    def _set_webhook(self, url: str) -> None:
        self.webhook = url

    async def _get_updates(self, asked: GetUpdates) -> JsonValue:
        if self.webhook:
            raise TelegramError(409, CONFLICT + WEBHOOK_ACTIVE)
        try:
            updates = await self.updates.poll(asked.offset, asked.limit, asked.timeout, asked.allowed_updates)
        except Superseded:
            raise TelegramError(409, CONFLICT + OTHER_POLLER) from None
        return list(updates)

    def _misused(self, method: str, error: ValidationError) -> TelegramError:
        first = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(each) for each in first["loc"])
        if first["type"] == "missing" and name == "text":
            return bad_request("message text is empty")
        if name.startswith(("entities", "caption_entities")):
            return bad_request(f"can't parse entities: {name}: {first['msg']}")
        self.violate(f"{method}: {name}: {first['msg']}")
        return bad_request(f"parameter {name} of {method}: {first['msg']}")

    async def _download(self, request: web.Request) -> web.StreamResponse:
        call = Call("download", {"path": request.match_info["path"]}, self.clock())
        return await self.perform(
            request, call, lambda: self._file(request), lambda effect: web.Response(status=effect.status or 500)
        )

    async def _file(self, request: web.Request) -> web.Response:
        file = self._world.files.get(request.match_info["path"].removeprefix("files/"))
        if file is None or request.match_info["token"] != self.token:
            return _failure(TelegramError(404, "Not Found"))
        return web.Response(body=file.content, content_type="application/octet-stream")


def _too_many(seconds: float) -> TelegramError:
    whole = int(seconds) if seconds == int(seconds) else seconds
    return TelegramError(429, f"Too Many Requests: retry after {whole}", {"retry_after": whole})


def _success(result: JsonValue) -> web.Response:
    return web.Response(text=json.dumps({"ok": True, "result": result}), content_type="application/json")


def _failure(error: TelegramError) -> web.Response:
    body: dict[str, object] = {"ok": False, "error_code": error.code, "description": error.description}
    if error.parameters:
        body["parameters"] = error.parameters
    headers = {"Retry-After": str(error.parameters["retry_after"])} if error.code == 429 and error.parameters else None
    return web.Response(text=json.dumps(body), status=error.code, headers=headers, content_type="application/json")
