"""A command reaches the node that runs on its machine, whatever its name is."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from channels.terminal.frames import bound
from gateway.errors import ParleyError
from gateway.settings.files import NODES, host_name
from gateway.settings.local_node import REQUESTS
from gateway.settings.settings import load_settings
from gateway.store.opening import locked
from gateway.upkeep.doctor.report import examine
from gateway.web.link_socket import LinkSocket, run

pytestmark = pytest.mark.both_loops


class Machine:
    """A machine, on which nodes with pages listen."""

    def __init__(self, home: Path, life: AsyncExitStack) -> None:
        self.environ = {"PARLEY_HOME": str(home), "HOME": str(home), "PARLEY_DATABASE_URL": "postgresql://nowhere/x"}
        self._home = home
        self._life = life

    async def runs(self, name: str) -> None:
        """Let a node of this name run here."""
        folder = self.knows(name)
        self._life.enter_context(locked(folder))
        server = await asyncio.start_unix_server(lambda _, writer: writer.close(), sock=bound(folder / REQUESTS))
        self._life.callback(server.close)
        page = LinkSocket(folder, lambda: f"http://page-of-{name}")
        await page.start()
        self._life.push_async_callback(page.close)

    def knows(self, name: str) -> Path:
        """Make the folder of a node that runs on another machine: its socket cannot be reached from here."""
        folder = self._home / NODES / name
        folder.mkdir(parents=True)
        bound(folder / REQUESTS).close()
        return folder

    async def doctor(self, **environ: str) -> str:
        """Return what `parley doctor` says of the Parleys that run here."""
        found = await examine(load_settings({**self.environ, **environ}, self._home))
        (said,) = [each.what for each in found if each.what.startswith("Parley is running")]
        return said

    async def link(self, **environ: str) -> None:
        """Give `parley link`, which prints to standard output. Raises ParleyError."""
        assert await asyncio.to_thread(run, {**self.environ, **environ}, self._home) == 0


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    async with AsyncExitStack() as life:
        yield Machine(tmp_path, life)


async def test_a_command_reaches_the_only_node_on_its_machine(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.knows("elsewhere")
    await machine.runs("kitchen")

    await machine.link()

    assert capsys.readouterr().out == "http://page-of-kitchen\n"


async def test_a_command_names_the_nodes_on_its_machine_if_there_are_several(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.knows("elsewhere")
    await machine.runs("kitchen")
    await machine.runs("attic")

    with pytest.raises(
        ParleyError, match=r"Several nodes run on this machine: attic, kitchen. .*PARLEY_NODE_NAME=attic"
    ):
        await machine.link()

    await machine.link(PARLEY_NODE_NAME="kitchen")
    assert capsys.readouterr().out == "http://page-of-kitchen\n"


async def test_the_node_with_the_name_of_the_machine_comes_first(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    await machine.runs("kitchen")
    await machine.runs(host_name())

    await machine.link()

    assert capsys.readouterr().out == f"http://page-of-{host_name()}\n"


async def test_without_a_node_on_its_machine_a_command_says_where_nodes_are(machine: Machine) -> None:
    machine.knows("elsewhere")

    with pytest.raises(ParleyError, match="on the machine of another node: elsewhere"):
        await machine.link()


async def test_the_doctor_names_each_node_on_its_machine(machine: Machine) -> None:
    machine.knows("elsewhere")
    await machine.runs("kitchen")
    assert await machine.doctor() == f"Parley is running (pid {os.getpid()})"

    await machine.runs("attic")
    assert await machine.doctor() == f"Parley is running (attic: pid {os.getpid()}, kitchen: pid {os.getpid()})"
    assert await machine.doctor(PARLEY_NODE_NAME="attic") == f"Parley is running (pid {os.getpid()})"
