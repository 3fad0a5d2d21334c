"""Opens the page of the running gateway, and decides who may use it."""

import importlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import cast
from uuid import uuid4

from msgspec import Struct

from agent_core.clock import Clock
from channels.base import Channel, RequestMade
from channels.web.visitor import Visitor
from gateway.app.composition import Gateway
from gateway.app.operation import Operation
from gateway.commands.page import Entrance
from gateway.permissions.access import Access, Decision
from gateway.permissions.roles import Role
from gateway.records.audit import AuditLog
from gateway.settings.settings import Settings
from gateway.store.store import Store
from gateway.texts.about import About
from gateway.web.route import Opening


class PageAccess:
    """Decides who may use the page, and records uses in the audit file.

    Until the gateway runs, only the person at this machine may use it.
    """

    def __init__(self, clock: Clock, link_used: Callable[[str], None]) -> None:
        """`link_used` is called with the next link for the console once one was used."""
        self._link_used = link_used
        self._clock = clock
        self._running: tuple[Access, AuditLog] | None = None

    @contextmanager
    def of(self, access: Access, audit: AuditLog) -> Iterator[None]:
        """Ask a running gateway while the context is open."""
        self._running = access, audit
        try:
            yield
        finally:
            self._running = None

    def link_used(self, link: str) -> None:
        """Tell the console the next link."""
        self._link_used(link)

    @property
    def are_known(self) -> bool:
        return self._running is not None

    def may_enter(self, visitor: Visitor) -> bool:
        """Return True for owners and admins whom `Access.authorize` lets ask for the page."""
        if self._running is None:
            return visitor.is_local
        access, _ = self._running
        asked = RequestMade(
            event_id=f"web:entry:{uuid4()}",
            chat=visitor.chat(),
            sender=visitor.sender(""),
            at=self._clock.time(),
            what="page",
        )
        role = access.role(asked.chat, asked.sender)
        is_admin = role is not None and role.is_at_least(Role.ADMIN)
        return is_admin and access.authorize(asked) is Decision.ALLOWED

    def record(self, principal: str, what: str, **facts: str) -> None:
        """Write an audit entry. Before the gateway runs there is only the log."""
        if self._running is not None:
            _, audit = self._running
            audit.changed(Visitor(principal).chat(), principal, what, **facts)


class OpenPage(Struct, frozen=True):
    """The page, whose server listens."""

    channel: Channel
    link: str
    """For the console."""
    entrance: Entrance
    _access: PageAccess
    _operation: Operation
    _show: Callable[[Gateway], AbstractContextManager[None]]

    @contextmanager
    def of(self, made: Gateway) -> Iterator[None]:
        """Show a running gateway while the context is open."""
        with ExitStack() as life:
            life.enter_context(self._operation.of(made.serving.readiness, made.serving.routes))
            life.enter_context(self._access.of(made.people.access, made.base.audit))
            life.enter_context(self._show(made))
            yield


@asynccontextmanager
async def opened_page(
    settings: Settings,
    about: Callable[[], About],
    store: Store,
    clock: Clock,
    link_used: Callable[[str], None],
    *,
    paths: Mapping[str, Opening | None],
    scripts: Mapping[str, Path],
) -> AsyncIterator[OpenPage]:
    """Open the page, and close it at the end. Raises ParleyError. `link_used`: see `PageAccess`.

    `paths` are those of the routes of plugins, each with how it is open to others, and `scripts` those of plugins.
    """
    # Imported by name: without a page these imports are saved at the start.
    page, pages, web = (
        importlib.import_module(f"gateway.{name}") for name in ("web.page", "admin.pages", "web.operation")
    )
    operation, page_access, admin = Operation(), PageAccess(clock, link_used), pages.AdminPages()
    operator = web.OperatorRoutes(operation, paths, web.Address.of(settings.web), scripts)
    channel, server, entrance = page.open_page(
        settings, about, store, clock, operator=operator, rights=page_access, routes=admin.routes()
    )

    def show(made: Gateway) -> AbstractContextManager[None]:
        def make() -> object:
            return importlib.import_module("gateway.app.screens").desk_of(made, settings.web.person)

        return cast("AbstractContextManager[None]", admin.open(make))

    async with AsyncExitStack() as life:
        await server.start()
        life.push_async_callback(server.close)
        socket = importlib.import_module("gateway.web.link_socket").LinkSocket(settings.local, server.new_link)
        await socket.start()
        life.push_async_callback(socket.close)
        yield OpenPage(channel, server.link, entrance, page_access, operation, show)
