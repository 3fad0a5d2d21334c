"""Plugins answer programs on this machine at the page's server, and no route of theirs lifts a check of another."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from gateway.app.plugin_routes import paths_of
from gateway.plugin import Plugin, Running
from gateway.web.route import Answer, Asked, Route
from tests.entering import opened_store, page_server
from tests.gateway.conftest import StartBot
from tests.gateway.operation import watched
from tests.page_server import PLAYED


class Figures(Plugin):
    """Tells how many commands and metrics there are."""

    name = "figures"
    paths: ClassVar[frozenset[str]] = frozenset({"/figures"})

    def routes(self, running: Running) -> Mapping[str, Route]:
        async def figures(asked: Asked) -> Answer:
            names = {metric.name for metric in await running.metrics()}
            has_help = any(spec.name == "help" for spec in running.commands.specs)
            return Answer(f"{asked.headers.get('accept')} {has_help} {'parley_info' in names}".encode())

        return {"/figures": figures}


class Unnamed(Figures):
    """Answers where it does not say."""

    paths = frozenset()


class Copies(Figures):
    """Answers where another plugin does."""

    name = "copies"


class Breaks(Plugin):
    """Fails when it is asked."""

    name = "breaks"
    paths = frozenset({"/broken"})

    def routes(self, running: Running) -> Mapping[str, Route]:
        async def broken(asked: Asked) -> Answer:
            raise RuntimeError("a secret")

        return {"/broken": broken}


def at(path: str) -> type[Plugin]:
    return type("At", (Figures,), {"paths": frozenset({path})})


async def test_a_route_answers_from_what_all_plugins_and_parley_have(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(plugins=(Figures,))
    async with watched(bot, tmp_path, (Figures,)) as client:
        async with client.get("/figures", headers={"Accept": "text/plain"}) as answer:
            assert (answer.status, await answer.text()) == (200, "text/plain True True")
        async with client.post("/figures") as answer:
            assert answer.status != 200


async def test_until_parley_runs_a_route_says_that_it_starts(tmp_path: Path) -> None:
    async with watched(None, tmp_path, (Figures,)) as client, client.get("/figures") as answer:
        assert (answer.status, await answer.text()) == (503, "starting")


@pytest.mark.parametrize("host", ["evil.example", "10.0.0.7:8765", "127.0.0.1.evil.example"])
async def test_no_plugin_is_asked_under_a_name_that_is_not_of_this_machine(
    start_bot: StartBot, tmp_path: Path, host: str
) -> None:
    bot = await start_bot(plugins=(Figures,))
    async with watched(bot, tmp_path, (Figures,)) as client, client.get("/figures", headers={"Host": host}) as answer:
        assert (answer.status, await answer.text()) == (403, "this answers only at 127.0.0.1 and localhost")


async def test_a_route_that_fails_is_logged_by_name_and_the_others_answer(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(plugins=(Breaks, Figures))
    async with watched(bot, tmp_path, (Breaks, Figures)) as client:
        with capture_logs() as logs:
            async with client.get("/broken") as answer:
                assert (answer.status, await answer.text()) == (500, "this failed: the log says why")
        async with client.get("/figures") as answer:
            assert answer.status == 200
    assert [(each["event"], each["plugin"]) for each in logs if each["log_level"] == "error"] == [
        ("a plugin failed", "breaks")
    ]


async def test_a_route_that_the_plugin_does_not_name_is_refused_at_the_start(start_bot: StartBot) -> None:
    with pytest.raises(ValueError, match="the plugin figures has a route /figures, which its paths do not name"):
        await start_bot(plugins=(Unnamed,))


@pytest.mark.parametrize("path", ["figures", "/", "/{any}", "/a/{rest:.*}", "/a//b", "/a?b", "/../b", "/A"])
def test_a_path_that_stands_for_others_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"the plugin figures has a route .*, which is no path such as /figures"):
        paths_of((at(path),))


def test_two_plugins_do_not_answer_at_one_path() -> None:
    with pytest.raises(ValueError, match="two plugins have a route /figures"):
        paths_of((Figures, Copies))


@pytest.mark.parametrize("path", ["/api/about", "/api/history", "/readyz", "/healthz", "/sign-in", "/admin/runs/all"])
async def test_a_route_lifts_no_check_of_another(tmp_path: Path, path: str) -> None:
    async def history(request: web.Request) -> web.Response:
        return web.Response(text=request.path)

    own = [web.get("/readyz", history), web.get("/healthz", history)]
    async with opened_store(tmp_path) as store:
        with pytest.raises(ValueError, match=f"two routes of the page have the path {path}"):
            page_server(
                store,
                [web.post("/api/history", history), web.get("/admin/{screen}/{item:.+}", history)],
                public_routes=[*own, *(web.get(each, history) for each in paths_of((at(path),)))],
                about=lambda: PLAYED,
            )
