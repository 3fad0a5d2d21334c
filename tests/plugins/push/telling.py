"""A page beside a push service on loopback, and devices that are told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from aiohttp import ClientSession

from gateway.app.chosen_plugins import own_plugins
from gateway.plugins.push.notifications import Reach
from gateway.plugins.push.plugin import PushPlugin
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.plugins.push.loopback_program import LOOPBACK
from tests.plugins.push.push_server import LoopbackPushServer, Phone, push_service
from tests.process import until


class LoopbackPush(PushPlugin):
    """Reaches push services on this machine, which are forbidden otherwise."""

    reach: ClassVar[Reach] = LOOPBACK


PLUGINS = tuple(LoopbackPush if each is PushPlugin else each for each in own_plugins())


@dataclass
class Owner:
    """The page's owner, signed in with one browser, and the push service."""

    client: ClientSession
    service: LoopbackPushServer

    async def phone(self) -> Phone:
        """Switch notifications on, as the page does it."""
        async with self.client.get("/push") as answer:
            key = (await answer.json())["key"]
        phone = self.service.phone(key)
        assert await self.wants(phone.subscription) == 204
        return phone

    async def wants(self, subscription: object) -> int:
        """Ask to be told, and return the status."""
        async with self.client.post("/push", json=subscription) as answer:
            return answer.status

    async def endpoint(self) -> str:
        """Return the address at which the browser is told."""
        async with self.client.get("/push") as answer:
            found: str = (await answer.json())["endpoint"]
            return found

    async def looks(self, *, looked: bool, tab: str = "tab-1") -> None:
        """Look at a tab, or away."""
        async with self.client.post("/push/looked", json={"tab": tab, "looked": looked}) as answer:
            assert answer.status == 204


@dataclass
class Told(Owner):
    """The owner of a page of these tests."""

    world: AdminWorld

    async def is_known_to_look(self, *, looked: bool) -> None:
        """Wait until the page has said that a tab is looked at, or that none is."""
        [plugin] = [each for each in self.world.bot.made.plugins if isinstance(each, LoopbackPush)]
        await until(lambda: plugin._looks.are_on("web:local") is looked)  # noqa: SLF001


@asynccontextmanager
async def told_world(home: Path, *turns: object, **how: object) -> AsyncIterator[Told]:
    """Start a bot with its page, and the push service."""
    async with (
        push_service() as service,
        admin_world(home, *turns, plugins=PLUGINS, **how) as world,
        world.client() as client,
    ):
        yield Told(client, service, world)
