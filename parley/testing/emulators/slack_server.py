"""The HTTP side of the Slack emulator: tokens, scopes, rate limits, methods, and further addresses."""

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from types import TracebackType

from aiohttp import web
from pydantic import JsonValue, ValidationError

from parley.testing.emulators.control import Call, Effect
from parley.testing.emulators.server import LoopbackServer
from parley.testing.emulators.slack_answers import respond
from parley.testing.emulators.slack_files import Files
from parley.testing.emulators.slack_hooks import SignedHooks
from parley.testing.emulators.slack_line import EventLine
from parley.testing.emulators.slack_methods import all_methods, needed_scopes
from parley.testing.emulators.slack_pace import Pace
from parley.testing.emulators.slack_params import Fields, read_fields
from parley.testing.emulators.slack_socket import SocketHub
from parley.testing.emulators.slack_state import TEAM, Person
from parley.testing.emulators.slack_wire import Json, RateLimited, SlackError
from parley.testing.emulators.slack_world import World

ALL_SCOPES = frozenset({
    "app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write", "commands",
    "files:read", "files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history",
    "mpim:read", "reactions:read", "reactions:write", "team:read", "users:read",
})  # fmt: skip


class SlackServer(LoopbackServer):
    """Slack for one app, without its users."""

    team_id = TEAM
    bot_token = "xoxb-EMULATED-0PARLEY"  # noqa: S105
    app_token = "xapp-1-A0EMULATED-1-emulated"  # noqa: S105
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
        self.pace = Pace(on=pace)
        self.hub = SocketHub(self.app_id, self.violate, self.changes.notify)
        self.hooks = SignedHooks(self.signing_secret)
        self.line = EventLine(self.faults, self.changes, clock, self.hub)
        self.hub.on_ready, self.hub.on_ack = self.line.flush, self.line.acknowledge
        self.hooks.line = self.line
        self._world = World(self.bot, self.line, self.changes, clock, set(scopes), lambda: self.url)
        self._world.people[self.bot.id] = self.bot
        self._files = Files(self._world)
        self._methods = all_methods(self._world, self._files)
        self._refused = ""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.line.close()
        await self.hooks.close()
        await self.hub.close()
        await super().__aexit__(kind, error, trace)

    @property
    def api_url(self) -> str:
        """Address for the SDK's `base_url`."""
        return f"{self.url}/api/"

    @property
    def scopes(self) -> set[str]:
        """Scopes of the app; may be changed."""
        return self._world.scopes

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.route("*", "/api/{method}", self._call),
            web.get("/link/", self.hub.serve),
            web.post("/actions/{key:.+}", self._respond),
            web.post("/upload/v1/{ticket}", self._upload),
            web.get("/{kind:files-pri|files-pri-download}/{file}/{name}", self._download),
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
        needed = needed_scopes(method, self._world, fields)
        granted = [each for each in needed if each in self.scopes]
        if needed and not granted:
            provided = ",".join(sorted(self.scopes))
            raise SlackError("missing_scope", {"needed": ",".join(needed), "provided": provided})
        self._world.scopes_used.update(granted[:1])
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

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        content = await request.read()
        call = Call("upload", {"length": len(content)}, self.clock())

        async def process() -> web.Response:
            return self._files.receive(request.match_info["ticket"], content)

        return await self.perform(request, call, process, lambda effect: _broken(effect.status or 500))

    async def _download(self, request: web.Request) -> web.StreamResponse:
        file_id = request.match_info["file"].removeprefix(f"{TEAM}-")
        call = Call("download", {"file": file_id}, self.clock())
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        allowed = token == self.bot_token and not self._refused and "files:read" in self.scopes

        async def process() -> web.Response:
            if allowed:
                self._world.scopes_used.add("files:read")
            return self._files.read(file_id, allowed=allowed)

        return await self.perform(request, call, process, lambda effect: _broken(effect.status or 500))

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
    """Return the response of Slack's edge when a server behind it is down."""
    return web.Response(text="<html><body>Something is broken</body></html>", status=status, content_type="text/html")
