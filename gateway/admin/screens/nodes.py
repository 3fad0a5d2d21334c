"""The screen of the nodes that share the database: what each does, and what is not the same on all of them."""

from gateway.admin.screen import Group, View, Visit
from gateway.store.nodes import NodeStatuses, differences


class NodesScreen:
    """Shows the nodes. It exists only where several processes can share the store."""

    name = "nodes"
    group = Group.SYSTEM
    icon = "network"

    def __init__(self, nodes: NodeStatuses) -> None:
        self._nodes = nodes

    async def view(self, _: Visit) -> View:
        """Return the nodes, read anew."""
        found = await self._nodes()
        return View("nodes.html", {"nodes": found, "differences": list(differences(found))})
