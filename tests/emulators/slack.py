"""Slack on loopback, strict, with people in it whom a test can let speak.

    async with SlackEmulator() as slack:
        client = AsyncWebClient(slack.bot_token, base_url=slack.api_url)
        handler = AsyncSocketModeHandler(AsyncApp(client=client), slack.app_token)
        ann = slack.person("Ann", language="en-GB")
        chat = slack.private(ann)
        await chat.says(ann, "Hello")
        ...
        await chat.until(lambda c: "Hello" in c.screen[-1])
        assert slack.violations == []

It answers as the real service does as far as this project knows it, and refuses what it does not know.
"""

import itertools
import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from types import TracebackType

from aiohttp import web
from pydantic import JsonValue, ValidationError

from tests.emulators.control import Call, Effect
from tests.emulators.server import LoopbackServer
from tests.emulators.slack_answers import respond
from tests.emulators.slack_chat import Chat
from tests.emulators.slack_line import Delivery, EventLine
from tests.emulators.slack_methods import all_methods, needed_scope
from tests.emulators.slack_pace import Pace
from tests.emulators.slack_params import Fields, read_fields
from tests.emulators.slack_socket import Reason, SocketHub
from tests.emulators.slack_state import TEAM, Kind, Person, Room
from tests.emulators.slack_wire import Json, RateLimited, SlackError
from tests.emulators.slack_world import World

ALL_SCOPES = frozenset({
    "app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write", "commands",
    "files:read", "files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history",
    "mpim:read", "reactions:read", "reactions:write", "team:read", "users:read",
})  # fmt: skip


class SlackEmulator(LoopbackServer):
    """One app's Slack workspace. `pace.on = False` lifts the platform's rate limits."""

    team_id = TEAM
    signing_secret = "emulated-signing-secret"  # noqa: S105

    def __init__(
        self,
        *,
        pace: bool = True,
        scopes: Collection[str] = ALL_SCOPES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock)
        self.bot = Person("U0PARLEY", "Parley", "parley_bot", is_bot=True)
        self.app_id = self.bot.app_id
        self.bot_token = "xoxb-EMULATED-0PARLEY"  # noqa: S105
        self.app_token = "xapp-1-A0EMULATED-1-emulated"  # noqa: S105
        self.pace = Pace(on=pace)
        self.hub = SocketHub(self.app_id, self.violate, self.changes.notify)
        self.line = EventLine(self.faults, self.changes, clock, self.hub)
        self.hub.on_ready, self.hub.on_ack = self.line.flush, self.line.acknowledge
        self._world = World(self.bot, self.line, self.changes, clock, set(scopes), lambda: self.url)
        self._world.people[self.bot.id] = self.bot
        self._methods = all_methods(self._world)
        self._ids = itertools.count(1)
        self._refused = ""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.line.close()
        await self.hub.close()
        await super().__aexit__(kind, error, trace)

    @property
    def api_url(self) -> str:
        """For the SDK's `base_url`."""
        return f"{self.url}/api/"

    # The people.

    def person(self, name: str, *, language: str | None = None, is_bot: bool = False) -> Person:
        """Somebody new; ids are U7000000001, U7000000002... `is_bot`: another app, which may post."""
        username = name.lower().replace(" ", "_")
        person = Person(f"U{7_000_000_000 + next(self._ids)}", name, username, language, is_bot)
        self._world.people[person.id] = person
        return person

    def private(self, person: Person) -> Chat:
        """The direct messages of this person with the bot."""
        return Chat(self._world, self._world.open_private(person))

    def group(self, title: str, people: Sequence[Person] = (), *, kind: Kind = "channel") -> Chat:
        """A public channel that the bot is in, or a private one ("group") or a group of direct messages ("mpim")."""
        room = Room(f"C{8_000_000_000 + next(self._ids)}", kind, title, list(people))
        self._world.rooms[room.id] = room
        return Chat(self._world, room)

    @property
    def scopes(self) -> set[str]:
        """What the app was granted; may be changed."""
        return self._world.scopes

    @property
    def scopes_used(self) -> set[str]:
        """The scopes that the methods called and the events delivered needed, to compare with a manifest."""
        return self._world.scopes_used

    @property
    def events_used(self) -> set[str]:
        """The events delivered, by the names under which apps subscribe to them: "message.im", "app_mention"..."""
        return self._world.events_used

    @property
    def connected(self) -> bool:
        """Whether at least one socket is open and greeted."""
        return bool(self.hub.ready)

    @property
    def unheard(self) -> int:
        """Events on their way or waiting that the app has not acknowledged."""
        return len(self.line.open)

    # Trouble.

    @property
    def ack_timeout(self) -> float:
        """Seconds that the app has to acknowledge."""
        return self.line.ack_timeout

    @ack_timeout.setter
    def ack_timeout(self, seconds: float) -> None:
        self.line.ack_timeout = seconds

    @property
    def forgetful(self) -> bool:
        """Whether events are lost while no socket is open."""
        return self.line.forgetful

    @forgetful.setter
    def forgetful(self, lose: bool) -> None:
        self.line.forgetful = lose

    async def push(self, event: JsonValue) -> None:
        """Any event, malformed ones too. A string goes as it is, in a frame of its own; what has an `envelope_id` goes
        as a frame; anything else as the `event` of an ordinary delivery."""
        if isinstance(event, str):
            self.hub.send_text(event)
        elif isinstance(event, dict) and "envelope_id" in event:
            self.hub.send_text(json.dumps(event))
        else:
            self.line.push(Delivery("events_api", self._world.wrap(event)))

    def redeliver(self, count: int = 1) -> None:
        """Deliver the last confirmed events once more, as retries."""
        self.line.redeliver(count)

    @property
    def calls_in_window(self) -> int:
        """Calls made although Slack had said when to come back."""
        return self.pace.calls_in_window

    def refresh(self, how: Reason = "refresh_requested", *, count: int | None = None) -> None:
        """Tell the oldest `count` sockets (None: all) to go, and close them a moment later."""
        self.hub.dismiss(how, self.hub.sockets[:count])

    def revoke(self, error: str = "token_revoked") -> None:
        """The bot's token is good no more; "account_inactive" and "invalid_auth" are possible too."""
        about: Json = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [self.bot.id]}}
        self._world.tell("tokens_revoked", {**about, "event_ts": self._world.ts()})
        self._refused = error

    def uninstall(self) -> None:
        self._world.tell("app_uninstalled", {"type": "app_uninstalled", "event_ts": self._world.ts()})
        self._refused = "account_inactive"

    def opens_home(self, person: Person) -> None:
        """The person looks at the app's home."""
        event: Json = {"type": "app_home_opened", "user": person.id, "tab": "home", "event_ts": self._world.ts()}
        self._world.tell("app_home_opened", {**event, "channel": self._world.open_private(person).id})

    # The server.

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.route("*", "/api/{method}", self._call),
            web.get("/link/", self.hub.serve),
            web.post("/actions/{key:.+}", self._respond),
        ]

    async def _call(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        try:
            fields = await read_fields(request)
        except SlackError as error:
            self.violate(f"{method}: {error.error}")
            return self._failure(error)
        given = fields.pop("token", None)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ") or str(given or "")
        call = Call(method, fields, self.clock())
        counted = self.pace.counted(method, str(fields.get("channel", "")))
        self.pace.note(counted, call.at)

        async def process() -> web.Response:
            return self._process(method, fields, token)

        def refuse(effect: Effect) -> web.Response:
            if effect.status == 429:
                seconds = effect.retry_after or 1
                self.pace.open_window(counted, seconds, self.clock())
                return self._failure(RateLimited(int(seconds) if seconds == int(seconds) else int(seconds) + 1))
            return _broken(effect.status or 500)

        return await self.perform(request, call, process, refuse)

    def _process(self, method: str, fields: Fields, token: str) -> web.Response:
        try:
            if method == "apps.connections.open":
                return self._success(self._open_connection(token))
            self._check_token(token)
            return self._success(self._run(method, fields))
        except SlackError as error:
            return self._failure(error)
        except ValidationError as error:
            return self._failure(self._misused(method, error))

    def _run(self, name: str, fields: Fields) -> Json:
        method = self._methods.get(name)
        if method is None:
            self.violate(f"unknown method {name}")
            raise SlackError("unknown_method", {"req_method": name})
        scope = needed_scope(method, self._world, fields)
        if scope:
            if scope not in self.scopes:
                raise SlackError("missing_scope", {"needed": scope, "provided": ",".join(sorted(self.scopes))})
            self.scopes_used.add(scope)
        self.pace.check(self.pace.counted(name, str(fields.get("channel", ""))), self.clock())
        return method.run(fields)

    def _check_token(self, token: str) -> None:
        if not token:
            raise SlackError("not_authed")
        if token == self.app_token:
            raise SlackError("not_allowed_token_type")
        if token != self.bot_token:
            raise SlackError("invalid_auth")
        if self._refused:
            raise SlackError(self._refused)

    def _open_connection(self, token: str) -> Json:
        if not token:
            raise SlackError("not_authed")
        if token != self.app_token:
            raise SlackError("not_allowed_token_type" if token.startswith("xoxb-") else "invalid_auth")
        if self._refused == "account_inactive":
            raise SlackError("account_inactive")
        return {"url": f"{self.url.replace('http', 'ws', 1)}/link/?{self.hub.ticket()}"}

    def _misused(self, method: str, error: ValidationError) -> SlackError:
        first = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(each) for each in first["loc"])
        self.violate(f"{method}: {name}: {first['msg']}")
        messages: list[JsonValue] = [f"[ERROR] {first['msg']} [json-pointer:/{name}]"]
        return SlackError("invalid_arguments", {"response_metadata": {"messages": messages}})

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        body = await request.text()
        call = Call("response_url", {"body": body}, self.clock())

        async def process() -> web.Response:
            return self._answered(request.match_info["key"], body)

        return await self.perform(request, call, process, lambda effect: _broken(effect.status or 500))

    def _answered(self, key: str, body: str) -> web.Response:
        url = self._world.response_urls.get(key)
        if url is None or self.clock() > url.until or url.uses <= 0:
            error = "expired_url" if url is None or self.clock() > url.until else "used_url"
            return web.json_response({"ok": False, "error": error}, status=404)
        url.uses -= 1
        try:
            respond(self._world, url, json.loads(body))
        except SlackError as error:
            return web.json_response({"ok": False, "error": error.error}, status=404 if url.uses < 0 else 400)
        except ValueError as error:
            self.violate(f"response_url: {error}")
            return web.json_response({"ok": False, "error": "invalid_payload"}, status=400)
        return web.Response(text="ok")

    def _success(self, answer: Mapping[str, JsonValue]) -> web.Response:
        return self._answer({"ok": True, **answer}, 200, {})

    def _failure(self, error: SlackError) -> web.Response:
        body: Json = {"ok": False, "error": error.error, **error.details}
        if isinstance(error, RateLimited):
            return self._answer(body, 429, {"Retry-After": str(error.retry_after)})
        return self._answer(body, 200, {})

    def _answer(self, body: Json, status: int, headers: dict[str, str]) -> web.Response:
        headers["X-OAuth-Scopes"] = ",".join(sorted(self.scopes))
        return web.Response(text=json.dumps(body), status=status, headers=headers, content_type="application/json")


def _broken(status: int) -> web.Response:
    """What Slack's edge answers when something behind it is down."""
    return web.Response(text="<html><body>Something is broken</body></html>", status=status, content_type="text/html")
