"""A server's list of models is read in whatever shape it has, and an odd entry loses only itself."""

import json
from collections.abc import Sequence

import pytest
from aiohttp import web
from pydantic import JsonValue

from agent_core.models.local_servers import ask_server
from parley.testing.emulators.server import LoopbackServer


class Lists(LoopbackServer):
    """Answers with a body where a server lists its models."""

    def __init__(self, body: JsonValue) -> None:
        super().__init__()
        self._body = json.dumps(body)

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/v1/models", self._answer)]

    async def _answer(self, _request: web.Request) -> web.Response:
        return web.Response(text=self._body, content_type="application/json")


async def listed(body: JsonValue) -> list[tuple[str, int]]:
    async with Lists(body) as server:
        return [(each.id, each.context_window) for each in await ask_server(f"{server.url}/v1", None)]


@pytest.mark.parametrize(
    "body",
    [
        {"object": "list", "data": [{"id": "a"}, {"id": "b"}]},
        [{"id": "a"}, {"id": "b"}],
        {"models": [{"name": "a"}, {"model": "b", "name": "B"}]},
        {"data": None, "models": [{"id": "a"}, {"id": "b"}]},
        {"data": ["a", "b"]},
        {"data": [{"id": "a", "meta": []}, None, 5, {"id": None}, {"id": 7}, {}, {"id": "b", "max_model_len": "many"}]},
        {"data": [{"id": "a", "meta": {"n_ctx": None}, "max_model_len": -1}, {"id": "b", "meta": {"n_ctx": "x"}}]},
    ],
    ids=lambda body: json.dumps(body)[:40],
)
async def test_the_names_are_read_whatever_stands_beside_them(body: JsonValue) -> None:
    assert [name for name, _ in await listed(body)] == ["a", "b"]


async def test_the_window_is_that_of_the_server() -> None:
    models: JsonValue = [{"id": "a", "max_model_len": 4096}, {"id": "b", "meta": {"n_ctx": 2048}}]

    assert await listed({"data": models}) == [("a", 4096), ("b", 2048)]


@pytest.mark.parametrize("body", [None, [], {}, "none", 5, {"data": {}}, {"error": {"message": "No"}}], ids=json.dumps)
async def test_what_lists_nothing_is_no_list(body: JsonValue) -> None:
    assert await listed(body) == []
