"""The showroom: three emulated platforms, a model of each provider, a calendar, the page, and a home of a Parley."""

import errno
import time
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from gateway.app.chosen_plugins import own_models
from gateway.settings.settings import Settings
from tests.emulators.showroom.calendar import calendar_of_today
from tests.emulators.showroom.discord import DiscordExhibit
from tests.emulators.showroom.exhibit import Now
from tests.emulators.showroom.home import Home, settle
from tests.emulators.showroom.models import CALENDAR, models
from tests.emulators.showroom.nodes import ShownNodes
from tests.emulators.showroom.server import AnyExhibit, Invitation, Page
from tests.emulators.showroom.slack import SlackExhibit
from tests.emulators.showroom.telegram import TelegramExhibit
from tests.end_to_end.program import Program
from tests.nodes import Database, Nodes

T = TypeVar("T")
PORT = 8770
"""Port of the page. What is emulated has the next ones, so that a running Parley finds it again."""
NEXT_PORTS = 6
"""The number of these: of three platforms, the models, the calendar, and Parley's own page."""

MODELS = (
    "/model NAME chooses one of these models, each emulated as its provider speaks: they think, calculate, and repeat "
    "what is said to them. Until then {first} answers."
)


def standing_by() -> str:
    """Return the model of a plugin that answers until another is chosen; empty if there is none."""
    return next((each.name for each in own_models(Settings(home=Path())) if each.standby), "")


class PortTaken(Exception):
    def __init__(self, port: int, first: int) -> None:
        super().__init__(
            f"port {port} is taken by another program, perhaps by other emulators: stop it, or let these begin at "
            f"another port with ./run emulators --port {first + 1000}"
        )


class Showroom:
    """The showroom; runs while entered."""

    page: Page
    home: Home
    calendar: str
    """The address of the calendar."""

    def __init__(
        self, folder: Path, *, port: int = PORT, shown_as: str = "", now: Now = time.time, nodes: int = 0
    ) -> None:
        """Create it; entering it raises PortTaken.

        Args:
            folder: The home.
            port: That of the page; 0 takes free ones.
            shown_as: The home as a command names it.
            now: The platforms' clock, in seconds since the epoch.
            nodes: How many Parleys run in the home, over a PostgreSQL beside it.
        """
        self.telegram, self.slack, self.discord = TelegramExhibit(now), SlackExhibit(now), DiscordExhibit(now)
        self.exhibits: tuple[AnyExhibit, ...] = (self.telegram, self.slack, self.discord)
        self.models = models()
        self.command = f"PARLEY_HOME={shown_as or folder} ./run"
        self._again = f"./run emulators --nodes {nodes}" if nodes else "./run emulators"
        self._names = [f"node-{number}" for number in range(1, nodes + 1)]
        self._folder = folder
        self._port = port
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opening:
            for place, each in enumerate((*(each.emulator for each in self.exhibits), self.models), 1):
                each.port = self._next(place)
                await self._listen(each.port, opening.enter_async_context(each))
            port = self._next(NEXT_PORTS - 1)
            calendar = await self._listen(port, opening.enter_async_context(calendar_of_today(port)))
            calendar.who, self.calendar = "the team", calendar.url
            self.home = settle(self._folder, self.settings, self._people())
            nodes = await self._nodes(opening) if self._names else None
            invitation = Invitation(self.command, self._again)
            self.page = Page(self.exhibits, self.models, invitation, port=self._port, nodes=nodes)
            await self._listen(self._port, self.page.start())
            opening.push_async_callback(self.page.close)
            self._open = opening.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    @property
    def settings(self) -> dict[str, str]:
        """Settings with which Parley connects to the emulators."""
        return {name: value for each in self.exhibits for name, value in each.settings.items()}

    @property
    def adds_calendar(self) -> str:
        """The command with which an owner adds the calendar, which everybody signs in to for themselves."""
        return f"/mcp add {CALENDAR} {self.calendar} each"

    def listed(self, person: str) -> str:
        """Return a user on all platforms in the form of PARLEY_OWNERS and PARLEY_ALLOW."""
        return ",".join(f"{each.name}:{each.person_id(person)}" for each in self.exhibits)

    async def _nodes(self, opening: AsyncExitStack) -> ShownNodes:
        """Start the database and the nodes. Their output is in the home, in a file for each."""
        database = opening.enter_context(Database.started(self._folder.with_name(f"{self._folder.name}-postgres")))
        own_page = {"PARLEY_WEB": "off"}  # of which only one could have the port
        template = Program(self._folder, {"PARLEY_HOME": str(self._folder), **own_page})
        for name in ("PARLEY_TIMEZONE", "PARLEY_HEARTBEAT"):
            template.unset(name)
        nodes = Nodes(template, database.url, self._names)
        await opening.enter_async_context(nodes.all_running())
        return ShownNodes(nodes, database.url)

    def _people(self) -> list[tuple[str, Mapping[str, str]]]:
        first = standing_by() or self.models.dialects[0].setting
        speakers = {"PARLEY_OWNERS": self.listed("Ann"), "PARLEY_ALLOW": self.listed("Bob")}
        return [
            ("Ann owns this Parley, and Bob may talk to it. Zoe is a stranger.", speakers),
            (
                "Browsers come back to Parley's own page after a sign-in to the calendar, a server of this machine.",
                {"PARLEY_WEB": "on", "PARLEY_WEB_PORT": str(self._next(NEXT_PORTS)), "PARLEY_PLUGIN_MCP_LOCAL": "on"},
            ),
            (
                MODELS.format(first="one that is no AI" if standing_by() else "the first of them"),
                {"PARLEY_MODEL": first, "PARLEY_THINKING": "low", **self.models.settings},
            ),
        ]

    def _next(self, place: int) -> int:
        return self._port + place if self._port else 0

    async def _listen(self, port: int, starting: Coroutine[object, object, T]) -> T:
        try:
            return await starting
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise PortTaken(port, self._port) from error
