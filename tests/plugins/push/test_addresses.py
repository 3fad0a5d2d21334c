"""Only an address of a push service on the internet is told anything, and only with keys that are some."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.app.chosen_plugins import own_plugins
from tests.gateway.admin.desk import admin_world
from tests.plugins.push.push_server import Phone, push_service
from tests.plugins.push.telling import Told, told_world
from tests.plugins.push.test_what_is_told import nothing_more, reports


def at(endpoint: str) -> dict[str, object]:
    return Phone(endpoint, "").subscription


@asynccontextmanager
async def shipped_world(home: Path) -> AsyncIterator[Told]:
    """Start a bot with its page, with the plugin as it is shipped."""
    async with (
        push_service() as service,
        admin_world(home, plugins=own_plugins()) as world,
        world.client() as client,
    ):
        yield Told(client, service, world)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "nothing",
        "http://push.example/1",
        "ftp://push.example/1",
        "https://",
        "https://me:secret@push.example/1",
        "javascript:alert(1)",
        "https://[::1",
        "https://[::1]/1",
        "https://push.example:99999/1",
        "https://push.exämple/1",
        "https://push .example/1",
        f"https://push.example/{'x' * 1000}",
    ],
)
async def test_what_is_no_address_of_a_push_service_is_refused(tmp_path: Path, endpoint: str) -> None:
    async with shipped_world(tmp_path) as told:
        assert await told.wants(at(endpoint)) == 400
        assert await told.endpoint() == ""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.0.0.7", "169.254.169.254", "192.168.1.1"])
async def test_an_address_within_the_own_network_is_never_asked_and_forgotten(tmp_path: Path, host: str) -> None:
    async with shipped_world(tmp_path) as told:
        assert await told.wants(at(f"https://{host}/push/0")) == 204
        await reports(told, "private")
        await nothing_more(told)
        assert await told.endpoint() == ""
        assert told.service.asked == 0


@pytest.mark.parametrize(
    "subscription",
    [
        {},
        [],
        {"endpoint": "http://127.0.0.1:1/push"},
        {"endpoint": "http://127.0.0.1:1/push", "keys": {"p256dh": "AAAA", "auth": "AAAA"}},
        {**at("http://127.0.0.1:1/push"), "keys": {"p256dh": "é" * 80, "auth": "AAAA"}},
    ],
)
async def test_what_is_no_subscription_is_refused(tmp_path: Path, subscription: object) -> None:
    async with told_world(tmp_path) as told:
        assert await told.wants(subscription) == 400
        assert await told.wants({"endpoint": "x" * 5_000}) == 413


async def test_nobody_asks_who_is_not_signed_in(tmp_path: Path) -> None:
    async with told_world(tmp_path) as told:
        told.client.headers.clear()
        told.client.cookie_jar.clear()
        assert await told.wants(at("http://127.0.0.1:1/push")) == 403
        async with told.client.get("/push") as answer:
            assert answer.status == 403
