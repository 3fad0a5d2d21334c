"""The parts of Parley that every plugin is given."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from agent_core.clock import Clock
from agent_core.sandbox.command import Sandbox
from agent_core.tools.web.fetch import Fetcher
from gateway.commands.command import CommandTable
from gateway.delivery.delivery import Delivery
from gateway.delivery.outgoing import FOLDER as OUTGOING
from gateway.permissions.access import Access
from gateway.permissions.budgets import Budgets
from gateway.permissions.group_rules import GroupRules
from gateway.permissions.roles import Role, Roles
from gateway.permissions.workspaces import Workspaces
from gateway.records.metric import Durations, Metric
from gateway.runs.added_servers import AddedServers
from gateway.runs.errands import Errands
from gateway.runs.model_set import CurrentModels
from gateway.runs.server_calls import ServerCalls
from gateway.security.secrets import Secrets
from gateway.settings.current import CurrentSettings
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.store import Store


class TellsOwners(Protocol):
    """Tells owners something in their private chats, in the background."""

    def tell(self, key: str, *, show: str = "", least: Role = Role.OWNER, **facts: str | int) -> None:
        """Send a text to every owner, or also to admins. `show` is the command of a button that shows more."""


class Core(Struct, frozen=True):
    """The parts of Parley that every plugin may use.

    Attributes:
        store: All that is kept. Reads are made at any time, writes in its transactions.
        delivery: Sends messages, with secrets masked.
        access: Tells the roles, names and linked accounts of people.
        roles: The people who have roles, and when these change.
        group_rules: The rules of groups, and what sets one: it is stored, recorded, and holds at once.
        settings: The settings in force, which may change while Parley runs.
        models: The models in force, which may change with the settings.
        workspaces: The folders of chats, the former versions of their files, and where these came from.
        budgets: Reserve what a call may cost before it is made, if they have room, and settle what it has cost.
        secrets: Masks what must not be shown. Messages, screens, routes and what the model reads are masked without
            it; files that a plugin writes are not.
        clock: Tells the time, and sleeps.
        home: The folder of Parley's files.
        web: Fetches addresses of the public web, without cookies and keys; private ones are refused.
        sandbox: Runs programs without the network, without Parley's files and within limits; None on a machine that
            allows no sandbox. Whatever parses a file of others belongs in there.
        servers: The MCP servers that owners have added, and which tools of all servers they have approved.
        owners: Tells owners what they should know, such as that something does not work any more.
        server_calls: Calls tools of MCP servers for a person, without a model and as far as nobody has to approve that.
    """

    store: Store
    delivery: Delivery
    access: Access
    roles: Roles
    group_rules: GroupRules
    settings: CurrentSettings
    models: CurrentModels
    workspaces: Workspaces
    budgets: Budgets
    secrets: Secrets
    clock: Clock
    home: Path
    _owing: Callable[[Callable[[Connection], Sequence[Owed]]], Awaitable[Sequence[Owed]]]
    web: Fetcher
    sandbox: Sandbox | None
    servers: AddedServers
    owners: TellsOwners
    server_calls: ServerCalls

    async def owe(self, change: Callable[[Connection], Sequence[Owed]]) -> Sequence[Owed]:
        """Make a change of the plugin's tables, and let what it returns be owed, in one transaction.

        So what a request, a press or a duty brought is done once, also after a crash, if this has returned. The items
        are of kinds in `Plugin.owed`, and for any chats. The change does nothing but read and write rows, and is called
        again if the transaction was undone. Of two items of the same kind and key the first one stays, until it is
        done: what comes again later has to be known by a row.
        """
        return await self._owing(lambda connection: change(self.store.limited(connection)))

    @property
    def outgoing(self) -> Path:
        """The folder of files that are sent with a message."""
        return self.home / OUTGOING


class Running(Struct, frozen=True):
    """The parts that are made from the lists of all plugins."""

    commands: CommandTable
    """All commands, and who is offered which."""
    metrics: Callable[[], Awaitable[Sequence[Metric | Durations]]]
    """Reads what Parley counts and its state, at any time: a query of the store, and values in memory."""
    errands: Errands
    """Lets an agent do something for whoever waits for its answer. What must survive a crash is owed instead."""


Duty = Callable[[], Awaitable[None]]
"""Runs until it is cancelled, or until nothing is left to do."""
