"""A strict emulation of Discord's gateway and REST API on loopback, with users that a test controls.

    async with DiscordEmulator() as discord:
        sdk.http.Route.BASE = discord.api_url
        sdk.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(discord.gateway_url)
        ...
        ann = discord.person("Ann", language="en")
        chat = discord.private(ann)
        await chat.says(ann, "hello")
        ...
        await chat.until(lambda c: "Hello" in c.screen[-1])
        assert discord.violations == []

It answers as the real service does, as far as that is known, and refuses everything else.
"""

import base64
import itertools
import json
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType

from aiohttp import web
from pydantic import ValidationError

from parley.testing.emulators.control import Call, Effect, Fault
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_events import Events
from parley.testing.emulators.discord_gateway import GATEWAY_PATHS, Gateway
from parley.testing.emulators.discord_interactions import FIRST_ANSWER_SECONDS, InteractionApi
from parley.testing.emulators.discord_messages import Pen
from parley.testing.emulators.discord_pace import Pace, Wait
from parley.testing.emulators.discord_params import Body, DiscordError, invalid, read_body
from parley.testing.emulators.discord_rest import Answer, Asked, RestApi
from parley.testing.emulators.discord_routes import ROUTES, RestRoute
from parley.testing.emulators.discord_session import Intent
from parley.testing.emulators.discord_socket import handshake
from parley.testing.emulators.discord_state import TEXT, Channel, Guild, Json, Person, World
from parley.testing.emulators.server import LoopbackServer

BOT_ID = "1204242000000000001"
FIRST_PERSON = 7_000_000_001
CLOUDFLARE = "<!DOCTYPE html><html><head><title>Access denied | discord.com used Cloudflare</title></head></html>"
UNAUTHORIZED = DiscordError(401, 0, "401: Unauthorized")
FILE_ROUTE = "GET attachment"


@dataclass(frozen=True)
class Limited(Effect):
    """A 429 other than an ordinary rate limit: scope "global" or "shared", or a body that is not Discord's."""

    scope: str = "user"
    page: str | None = None
    content_type: str = "text/html"


@dataclass(frozen=True)
class Stranger(Effect):
    """A response with status 200 that comes from a proxy instead of Discord."""

    page: bytes = b""
    content_type: str = "text/html"


class DiscordEmulator(LoopbackServer):
    """Discord for one bot. `pace=False` lifts the rate limits; `intents_granted` are the switches of the developer
    portal."""

    def __init__(
        self,
        *,
        pace: bool = True,
        intents_granted: Intent = Intent.MESSAGE_CONTENT,
        user_install: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock)
        self.bot = Person(BOT_ID, "Parley", "parley_bot", is_bot=True)
        self.application_id = BOT_ID
        self.token = _token(BOT_ID)
        self.pace = Pace(on=pace)
        self.invalid_requests = 0
        """Responses with 401, 403 and 429 (without scope "shared"); 10,000 in ten minutes ban the address."""
        granted = bool(intents_granted & Intent.MESSAGE_CONTENT)
        self._world = World(self.bot, self.changes, clock, content_granted=granted, user_install=user_install)
        self._world.meet(self.bot)
        self.gateway = Gateway(self.token, intents_granted, self.faults, self.changes, clock, self.violate)
        self._events = Events(self._world, self.gateway)
        pen = Pen(self._world, self._events)
        self._rest = RestApi(pen, self.violate, lambda: self.gateway.about)
        self._interactions = InteractionApi(pen, self.violate, self._rest.check_mentions)
        self._numbers = itertools.count(FIRST_PERSON)

    async def __aenter__(self) -> "DiscordEmulator":
        await super().__aenter__()
        self._world.url = self.url
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill_connections()
        await super().__aexit__(kind, error, trace)

    @property
    def api_url(self) -> str:
        """Address for the SDK's `Route.BASE`."""
        return f"{self.url}/api/v10"

    @property
    def gateway_url(self) -> str:
        return self.url.replace("http://", "ws://") + GATEWAY_PATHS[0]

    # Users

    def person(self, name: str, *, language: str | None = None, is_bot: bool = False) -> Person:
        """Create a user with the id "7000000001", "7000000002", ... Discord sends a user's language only with
        interactions."""
        username = name.lower().replace(" ", "_")
        person = Person(str(next(self._numbers)), name, username, language, is_bot)
        self._world.meet(person)
        return person

    def private(self, person: Person) -> Chat:
        """Return the private chat of this user and the bot."""
        return Chat(self._world, self._events, self._world.direct_channel(person))

    def group(self, title: str, people: Sequence[Person] = (), *, tier: int = 0) -> Chat:
        """Create a server with the bot and one text channel, "general". `tier` is its boost tier, which decides the
        file size."""
        next_id = self._world.snowflakes.next
        guild = Guild(next_id(), title, list(people), tier)
        channel = Channel(next_id(), TEXT, "general", guild.people, guild)
        self._world.guilds[guild.id] = guild
        guild.channels[channel.id] = self._world.channels[channel.id] = channel
        self._events.guild_made(guild)
        return Chat(self._world, self._events, channel)

    def kick_bot(self, chat: Chat) -> None:
        """Remove the bot from the server of this chat."""
        guild = chat.channel.guild
        if guild is None:
            raise AssertionError("nobody can be removed from direct messages")
        guild.kicked = True
        del self._world.guilds[guild.id]
        self._events.guild_gone(guild)
        self.changes.notify()

    @property
    def commands(self) -> dict[str, str]:
        """Descriptions of the global slash commands by name."""
        return {name: str(each["description"]) for name, each in self._world.commands.items() if each["type"] == 1}

    # Actions of the client

    @property
    def connected(self) -> bool:
        """True if a socket is open and has received READY or RESUMED."""
        return self.gateway.connected

    @property
    def unanswered(self) -> int:
        """Number of commands and presses whose first answer is still due."""
        since = self._world.clock() - FIRST_ANSWER_SECONDS
        return sum(not each.answered and each.at > since for each in self._world.interactions.values())

    @property
    def unheard(self) -> int:
        """Events of the newest session that no heartbeat has confirmed; `solicit` requests one."""
        return self.gateway.unheard

    @property
    def calls_in_window(self) -> int:
        return self.pace.calls_in_window

    def go_by(self, now: Callable[[], float]) -> None:
        """Use this clock for the times of messages."""
        self._world.snowflakes.now = now

    @property
    def permissions_used(self) -> set[str]:
        """Return the permissions that calls on servers' channels needed, by Discord's names."""
        return set(self._world.permissions_used)

    @property
    def intents_used(self) -> set[str]:
        """Return the intents that the delivered events needed, by Discord's names."""
        return {str(each.name) for each in self.gateway.intents_used}

    @property
    def identifies_left(self) -> int:
        return self.gateway.identifies_left

    @identifies_left.setter
    def identifies_left(self, left: int) -> None:
        self.gateway.identifies_left = left

    # Faults

    async def solicit(self) -> None:
        """Request a heartbeat from the client, which confirms what it has received."""
        self.gateway.solicit()

    async def push(self, event: Json | str) -> None:
        """Send any event: {"t": ..., "d": ...} gets a sequence number; other dicts and text are sent unchanged."""
        self.gateway.push(event)

    def forget_nonces(self) -> None:
        """Forget nonces, as Discord does after minutes."""
        for channel in self._world.channels.values():
            channel.nonces.clear()

    def redeliver(self, count: int = 1) -> None:
        """Send the last events caused by users once more, as after a resume from too far back."""
        self.gateway.redeliver(count)

    def reconnect(self) -> None:
        """Ask the client to reconnect and resume (op 7)."""
        self.gateway.reconnect()

    def invalidate(self, *, resumable: bool = False) -> None:
        """Tell the client that its session is invalid (op 9)."""
        self.gateway.invalidate(resumable=resumable)

    def forget_sessions(self) -> None:
        """Make all sessions impossible to resume; open sockets stay open."""
        self.gateway.forget()

    def close(self, code: int) -> None:
        """Close the sockets with this code."""
        self.gateway.close(code)

    def revoke(self) -> None:
        """Reset the token: every call is answered with 401, and sockets are closed with 4004."""
        self.gateway.token = ""
        self.gateway.close(4004)

    def cloudflare(self, times: int = 1, route: str = "*") -> None:
        """Answer with 429 and a web page, as Cloudflare does when it blocks an address."""
        self.faults.add(Fault(route, Limited(status=429, retry_after=60, page=CLOUDFLARE), times))

    def limit_oddly(self, page: str, route: str = "*", *, content_type: str = "application/json") -> None:
        """Answer one call with 429 and a body without Discord's numbers."""
        self.faults.add(Fault(route, Limited(status=429, retry_after=1, page=page, content_type=content_type), 1))

    def answer_oddly(self, page: bytes, route: str = "*", *, content_type: str = "application/json") -> None:
        """Answer one call with 200 and content that is not Discord's, as a captive portal or proxy does."""
        self.faults.add(Fault(route, Stranger(status=200, page=page, content_type=content_type), 1))

    def limit_all(self, retry_after: float = 1, route: str = "*") -> None:
        """Answer one call with a rate limit for all calls of the bot."""
        self.faults.add(Fault(route, Limited(status=429, retry_after=retry_after, scope="global"), 1))

    def limit_shared(self, route: str, retry_after: float = 1, times: int = 1) -> None:
        """Answer that a limit shared with other bots is used up, which does not count against this one."""
        self.faults.add(Fault(route, Limited(status=429, retry_after=retry_after, scope="shared"), times))

    # Server

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            *(web.get(each, self._connect) for each in GATEWAY_PATHS),
            web.get("/attachments/{channel}/{file}/{name}", self._download),
            *(web.route(each.verb, f"/api/v10{each.path}", self._handler(each)) for each in ROUTES),
        ]

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        call = Call("gateway", {**request.query, "path": request.path}, self.clock())
        return await self.perform(
            request, call, lambda: self.gateway.serve(request), lambda effect: web.Response(status=effect.status or 500)
        )

    def kill(self, request: web.Request) -> web.Response:
        """Drop the gateway's connection after the handshake, before HELLO. HTTP clients hide a refused handshake."""
        line = request.transport
        if request.path not in GATEWAY_PATHS or line is None:
            return super().kill(request)
        line.write(handshake(request.headers.get("Sec-WebSocket-Key", "")))
        line.close()
        self.changes.notify()
        return web.Response()

    def _handler(self, route: RestRoute) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(request: web.Request) -> web.StreamResponse:
            return await self._call(request, route)

        return handle

    async def _call(self, request: web.Request, route: RestRoute) -> web.StreamResponse:
        try:
            body = await read_body(request)
        except ValueError as error:
            self.violate(f"{route.name}: {error}")
            return self._failure(DiscordError(400, 50109, "The request body contains invalid JSON."))
        fields: dict[str, object] = dict(body.fields) if isinstance(body.fields, dict) else {"body": body.fields}
        call = Call(route.name, {**request.match_info, **request.query, **fields}, self.clock())
        key = route.key(request.match_info)
        return await self.perform(
            request, call, lambda: self._process(request, route, body), lambda effect: self._refuse(effect, key)
        )

    async def _process(self, request: web.Request, route: RestRoute, body: Body) -> web.Response:
        key, now = route.key(request.match_info), self.clock()
        if route.authorized and request.headers.get("Authorization") != f"Bot {self.gateway.token}":
            return self._failure(UNAUTHORIZED)
        wait = self.pace.refuse(key, route.limit, now, overall=route.authorized)
        if wait is not None:
            return self._too_many(wait, self.pace.headers(key, route.limit, now, time.time()))
        headers = self.pace.headers(key, route.limit, now, time.time())
        asked = Asked(dict(request.match_info), dict(request.query), body.fields, body.uploads)
        try:
            return _reply(self._run(route, asked), headers)
        except DiscordError as error:
            return self._failure(error, headers)
        except ValidationError as error:
            return self._failure(self._misused(route.name, error), headers)

    def _run(self, route: RestRoute, asked: Asked) -> Answer:
        if route.on_rest is not None:
            return route.on_rest(self._rest, asked)
        if route.on_interactions is not None:
            return route.on_interactions(self._interactions, asked)
        raise AssertionError(f"nobody does {route.name}")

    def _refuse(self, effect: Effect, key: str | None) -> web.Response:
        """Return an injected error; a 429 opens a rate limit window, as real ones do."""
        if isinstance(effect, Stranger):
            return web.Response(body=effect.page, status=200, headers={"Content-Type": effect.content_type})
        if effect.status != 429:
            return self._failure(DiscordError(effect.status or 500, 0, f"{effect.status or 500}: Server Error"))
        seconds = effect.retry_after or 1
        if isinstance(effect, Limited) and effect.page is not None:
            self.invalid_requests += 1
            headers = {"Retry-After": str(seconds), "Content-Type": effect.content_type}
            return web.Response(body=effect.page.encode(), status=429, headers=headers)
        scope = effect.scope if isinstance(effect, Limited) else "user"
        if scope == "global":
            self.pace.close_all(seconds, self.clock())
        elif key is not None:
            self.pace.close(key, seconds, self.clock())
        return self._too_many(Wait(seconds, scope), {})

    def _too_many(self, wait: Wait, headers: dict[str, str]) -> web.Response:
        if wait.scope != "shared":
            self.invalid_requests += 1
        seconds = math.ceil(wait.seconds * 1000) / 1000
        everywhere = wait.scope == "global"
        said = {
            "Retry-After": str(math.ceil(seconds)),
            "X-RateLimit-Scope": wait.scope,
            "X-RateLimit-Reset-After": f"{seconds:.3f}",
        }
        body: Json = {"message": "You are being rate limited.", "retry_after": seconds, "global": everywhere}
        return _reply(Answer(body, 429), {**headers, **said, **({"X-RateLimit-Global": "true"} if everywhere else {})})

    def _failure(self, error: DiscordError, headers: dict[str, str] | None = None) -> web.Response:
        if error.status in (401, 403, 429):
            self.invalid_requests += 1
        body: Json = {"message": error.message, "code": error.code}
        if error.errors is not None:
            body["errors"] = error.errors
        if error.retry_after is not None:
            body["retry_after"] = error.retry_after
        return _reply(Answer(body, error.status), headers or {})

    def _misused(self, name: str, error: ValidationError) -> DiscordError:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(each) for each in first["loc"])
        self.violate(f"{name}: {where}: {first['msg']}")
        return invalid(where, "BASE_TYPE_BAD", first["msg"])

    async def _download(self, request: web.Request) -> web.StreamResponse:
        call = Call(FILE_ROUTE, dict(request.match_info), self.clock())
        return await self.perform(
            request, call, lambda: self._file(request), lambda effect: web.Response(status=effect.status or 500)
        )

    async def _file(self, request: web.Request) -> web.Response:
        file = self._world.files.get(request.match_info["file"])
        if file is None or file.name != request.match_info["name"] or "hm" not in request.query:
            return web.Response(text="This content is no longer available.", status=404)
        return web.Response(body=file.content, content_type=file.mime)


def _token(number: str) -> str:
    """Return a token: three parts, the first of which is the bot's id in base64."""
    first = base64.urlsafe_b64encode(number.encode()).decode().rstrip("=")
    return f"{first}.Gemula.ted_token-of-a-bot-that-is-none-at-all"


def _reply(answer: Answer, headers: dict[str, str]) -> web.Response:
    """Build a response. The SDK parses JSON only if the content type has no parameters."""
    said = {"Via": "1.1 google", **headers}
    if answer.status == 204:
        return web.Response(status=204, headers=said)
    said["Content-Type"] = "application/json"
    return web.Response(body=json.dumps(answer.body).encode(), status=answer.status, headers=said)
