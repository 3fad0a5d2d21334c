"""Finds the node on this machine that a command is meant for, where several nodes share a home."""

from channels.terminal.frames import connected
from gateway.errors import ParleyError
from gateway.settings.files import NODES
from gateway.settings.settings import Settings

REQUESTS = "connect.sock"
"""Name of the socket in a node's folder on which it listens for commands."""


async def with_local_node(settings: Settings) -> Settings:
    """Return the settings with the name of the node that runs on this machine, unless they name one.

    Without such a node they are returned unchanged. Raises ParleyError if there are several.
    """
    here = await local_nodes(settings)
    if len(here) > 1:
        names = ", ".join(each.node for each in here)
        raise ParleyError(
            f"Several nodes run on this machine: {names}. Say which one is meant by PARLEY_NODE_NAME={here[0].node} "
            "before the command."
        )
    return here[0] if here else settings


async def local_nodes(settings: Settings) -> list[Settings]:
    """Return the settings of each node that runs on this machine, or of the one that the settings name."""
    if settings.database is None or settings.node_name or await _listens(settings):
        return [settings]
    others = [settings.model_copy(update={"node_name": name}) for name in node_names(settings)]
    return [each for each in others if await _listens(each)]


def node_names(settings: Settings) -> list[str]:
    """Return the names of all nodes that use the home or have used it, on any machine."""
    return sorted(folder.name for folder in (settings.home / NODES).glob("*/"))


async def _listens(settings: Settings) -> bool:
    """Return True if this node runs here: the sockets of other machines refuse connections."""
    try:
        _, writer = await connected(settings.local / REQUESTS)
    except OSError:
        return False
    writer.close()
    return True
