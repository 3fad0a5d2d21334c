"""The plugin of the menus: what it sets beside the chats."""

from collections.abc import Mapping
from functools import partial

from gateway.plugin import Core, Duty, Plugin, Running
from gateway.plugins.menus.role_menus import RoleMenus
from gateway.plugins.menus.table import START
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten


class MenusPlugin(Plugin):
    """Menus of commands that fit the role of each person."""

    name = "menus"
    migrations = (START,)

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._menus = RoleMenus(core)

    def duties(self, running: Running) -> Mapping[str, Duty]:
        return {"set": partial(self._menus.run, running.commands)}

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        """Keep the rows: they hold no words, and without them nobody would take a menu away when the role goes."""


PLUGIN = MenusPlugin
