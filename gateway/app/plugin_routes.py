"""Reads the routes and scripts of plugins, and lets each answer within its time, with secrets masked."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from agent_core.background import done_within
from gateway.app.plugins import asked, blamed
from gateway.plugin import Plugin, Running
from gateway.records.plugin_failures import PluginFailures, Unfit, check_each, expect
from gateway.security.secrets import Secrets
from gateway.web.route import Answer, Asked, Opening, Refused, Route

ROUTE_WITHIN = 30.0
"""Longest time in seconds for the answer of a route that is not open to other machines."""
_PATH = re.compile(r"(/[a-z0-9_-]+)+")
"""A path without parameters, so that it stands for nothing that others answer."""
_SCRIPT = re.compile(r"/[a-z0-9_-]+\.js")


def paths_of(kinds: Iterable[type[Plugin]]) -> Mapping[str, Opening | None]:
    """Return the paths of the routes of the plugins, each with how it is open to other machines, if it is.

    Raises PluginFailed if two have the same, or if one is no path.
    """
    found: dict[str, Opening | None] = {}

    def wrong_with(kind: type[Plugin], path: str, opening: Opening | None = None) -> Iterator[str]:
        if not _PATH.fullmatch(path):
            yield f"the plugin {kind.name} has a route {path}, which is no path such as /{kind.name}"
        if path in found:
            yield f"two plugins have a route {path}"
        found[path] = opening

    def wrong_with_open(kind: type[Plugin], path: str) -> Iterator[str]:
        expect(kind.open_paths[path], Opening, f"the value of {path} in open_paths")
        yield from wrong_with(kind, path, kind.open_paths[path])

    for kind in kinds:
        with blamed(kind.name, "paths"):
            check_each(sorted(kind.paths), partial(wrong_with, kind))
        with blamed(kind.name, "open_paths"):
            check_each(sorted(kind.open_paths), partial(wrong_with_open, kind))
    return found


def scripts_of(kinds: Iterable[type[Plugin]]) -> Mapping[str, Path]:
    """Return the scripts of the plugins for the page, by path.

    Raises PluginFailed if two have the same, or if one is no path of a script or has no file.
    """
    found: dict[str, Path] = {}

    def wrong_with(kind: type[Plugin], path: str) -> Iterator[str]:
        expect(kind.scripts[path], Path, f"the value of {path} in scripts")
        if not _SCRIPT.fullmatch(path):
            yield f"the plugin {kind.name} has a script {path}, which is no path such as /{kind.name}.js"
        if path in found:
            yield f"two plugins have a script {path}"
        if not kind.scripts[path].is_file():
            yield f"the plugin {kind.name} has no file for its script {path}"
        found[path] = kind.scripts[path]

    for kind in kinds:
        with blamed(kind.name, "scripts"):
            check_each(sorted(kind.scripts), partial(wrong_with, kind))
    return found


def routes_of(plugins: Sequence[Plugin], running: Running, failures: PluginFailures) -> Mapping[str, Route]:
    """Return the routes of the plugins by path.

    Raises PluginFailed as `paths_of`, or if one is not in the `paths` of its plugin.
    """
    paths_of(map(type, plugins))
    found: dict[str, Route] = {}
    for plugin in plugins:
        routes = asked(type(plugin), "routes", partial(plugin.routes, running))
        with blamed(plugin.name, "routes"):
            if unnamed := sorted(routes.keys() - plugin.paths - plugin.open_paths.keys()):
                named = "the plugin {} has a route {}, which its paths do not name"
                raise Unfit(*(named.format(plugin.name, path) for path in unnamed))
            found |= {path: partial(_answer, failures, plugin, path, route) for path, route in routes.items()}
    return found


async def _answer(failures: PluginFailures, plugin: Plugin, path: str, route: Route, asked: Asked) -> Answer:
    opening = plugin.open_paths.get(path)

    async def answered() -> Answer:
        try:
            return await route(asked)
        except Refused as refused:
            return refused.answer

    with failures.contained(plugin.name, path):
        answer = await done_within(answered(), opening.seconds if opening else ROUTE_WITHIN, plugin.core.clock)
        if not isinstance(answer, Answer):
            raise TypeError(f"it returned {type(answer).__name__}, which is no answer")
        answer = _masked(answer, plugin.core.secrets)
        if answer.chunks is None:
            return answer
        return replace(answer, chunks=_contained(failures, plugin, path, answer.chunks))
    return Answer(b"this failed: the log says why", status=500)


async def _contained(
    failures: PluginFailures, plugin: Plugin, path: str, chunks: AsyncIterator[bytes]
) -> AsyncGenerator[bytes, None]:
    """Yield what follows the beginning of an answer, masked. A failure is logged, and ends it."""
    with failures.contained(plugin.name, path):
        async with AsyncExitStack() as life:
            if isinstance(chunks, AsyncGenerator):
                await life.enter_async_context(aclosing(chunks))
            async for piece in chunks:
                yield _masked_text(piece, plugin.core.secrets)


def _masked(answer: Answer, secrets: Secrets) -> Answer:
    """Return the answer with secrets masked; bytes that are no text stay."""
    headers = {name: secrets.mask(value) for name, value in answer.headers.items()}
    body = _masked_text(answer.body, secrets)
    return replace(answer, body=body, content_type=secrets.mask(answer.content_type), headers=headers)


def _masked_text(body: bytes, secrets: Secrets) -> bytes:
    return secrets.mask(body.decode(errors="surrogateescape")).encode(errors="surrogateescape")
