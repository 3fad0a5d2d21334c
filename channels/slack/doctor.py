"""Checks for `parley doctor`: the app and workspace exist, and the app has the scopes that Parley needs."""

import asyncio
from collections.abc import Iterator

import aiohttp
from pydantic import SecretStr, ValidationError

from channels.base import AccountRefused
from channels.checkup import Account, Finding, ok, problem
from channels.slack.config import APPS, CONNECTIONS, NEEDED, SCOPES, Config, granted, missing
from channels.slack.errors import Failure, error_for
from channels.values import Wire

WITHIN = 5.0
"""Time limit for all requests together, in seconds."""
_NO_SCOPE = "missing_scope"


class _Answer(Wire):
    """Response of the Web API, with the scopes from its header."""

    ok: bool
    error: str = ""
    user: str = ""
    user_id: str = ""
    team: str = ""
    team_id: str = ""
    scopes: frozenset[str] = frozenset()


async def look(config: Config) -> Account:
    """Look at the app. Asking for a web socket's address does not open one, so a running Parley is not disturbed."""
    try:
        async with asyncio.timeout(WITHIN), aiohttp.ClientSession(trust_env=True) as session:
            me = await _ask(session, config, "auth.test", config.bot_token)
            if config.app_token is None:
                listening = ok(f"slack: receives events over HTTP at port {config.port}, path /slack/events")
                return _account(me, [listening])
            socket = await _ask(session, config, "apps.connections.open", config.app_token)
            return _account(me, list(_socket_mode(socket)), socket)
    except (aiohttp.ClientError, TimeoutError):
        found = problem(f"slack: could not reach {config.base_url}", "check the network, or SLACK_BASE_URL")
    except (ValidationError, ValueError):
        found = problem(f"slack: {config.base_url} does not respond like Slack", "check SLACK_BASE_URL")
    return Account([found])


def _account(me: _Answer, listening: list[Finding], socket: _Answer | None = None) -> Account:
    """Return the account; `socket` is the answer to the app-level token, if there is one."""
    refused = "bot_token" if _is_refused("auth.test", me) else ""
    if socket is not None and (_is_refused("apps.connections.open", socket) or socket.error == _NO_SCOPE):
        refused = refused or "app_token"
    name = f"@{me.user}" if me.ok and not refused else ""
    link = f"slack://user?team={me.team_id}&id={me.user_id}" if name else ""
    return Account([*_app(me), *listening], name, refused, link)


def _is_refused(method: str, answer: _Answer) -> bool:
    return not answer.ok and isinstance(error_for(Failure(method, answer.error, 200)), AccountRefused)


async def _ask(session: aiohttp.ClientSession, config: Config, method: str, token: SecretStr) -> _Answer:
    url = f"{config.base_url.rstrip('/')}/{method}"
    async with session.post(url, headers={"Authorization": f"Bearer {token.get_secret_value()}"}) as answer:
        scopes = granted(answer.headers.get("X-OAuth-Scopes", ""))
        return _Answer.model_validate_json(await answer.read()).model_copy(update={"scopes": scopes})


def _app(me: _Answer) -> Iterator[Finding]:
    if not me.ok:
        yield _refusal("auth.test", me)
        return
    yield ok(f"slack: the app is @{me.user} in {me.team}")
    for scope in missing(me.scopes):
        yield problem(
            f"slack: the app lacks the scope {scope}, to {SCOPES[scope]}",
            f"add it at {APPS}, your app, OAuth & Permissions, then reinstall the app there",
            can_wait=scope not in NEEDED,
        )


def _socket_mode(answer: _Answer) -> Iterator[Finding]:
    if answer.ok:
        yield ok("slack: Socket Mode answers")
    elif answer.error == _NO_SCOPE:
        yield problem(
            f"slack: the app-level token lacks the scope {CONNECTIONS}",
            f"make a new one with it at {APPS}, your app, Basic Information, App-Level Tokens, for SLACK_APP_TOKEN",
        )
    else:
        yield _refusal("apps.connections.open", answer)


def _refusal(method: str, answer: _Answer) -> Finding:
    what, _, fix = error_for(Failure(method, answer.error, 200)).reason.partition("; ")
    return problem(f"slack: {what}", fix or "try again later")
