"""The interface of plugins: what one adds to Parley, and what it is given for that.

A plugin is one ability with all that it adds, in a folder of its own: a subclass of `Plugin`, and beside it its
commands and texts. Nothing outside the folder names it. Those that come with Parley are the folders in
`gateway/plugins`, each with a module `plugin` whose `PLUGIN` is the class.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from agent_core.clock import Clock
from gateway.commands.command import Command
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.settings.current import CurrentSettings
from gateway.store.store import Store


@dataclass(frozen=True)
class Core:
    """The parts of Parley that every plugin may use."""

    store: Store
    """All that is kept. Reads are made at any time, writes in its transactions."""
    delivery: Delivery
    """Sends messages, and knows the channels of chats."""
    access: Access
    """Tells the roles, names and linked accounts of people."""
    settings: CurrentSettings
    """The settings in force, which may change while Parley runs."""
    clock: Clock
    outgoing: Path
    """The folder of files that are sent with a message."""


class Plugin:
    """One ability. A plugin overrides the methods for what it adds.

    It is made at each start, before anything runs, and its lists are read once, at that moment.
    """

    name: ClassVar[str]
    """A short word, by which people and other plugins name it."""
    needs: ClassVar[frozenset[str]] = frozenset()
    """Names of the plugins that have to be there, and are made before it."""
    texts: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """Texts for people, by key and language, for `say`. No key may be one of another plugin or of Parley."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def commands(self) -> Sequence[Command]:
        """Return the slash commands.

        Their `rights` say what they do at most and who may give them, and are checked before a command is run,
        wherever it comes from. No name may be that of another command.
        """
        return ()
