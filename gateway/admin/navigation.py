"""The navigation of the admin pages: its entries in groups."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from gateway.admin.icons import UNKNOWN
from gateway.admin.screen import Group, Grouped, Screen


class Entry(Struct, frozen=True):
    """An entry of the navigation."""

    name: str
    icon: str
    waiting: int = 0
    """Number of things on the screen that wait for somebody."""


Navigation = Mapping[Group, Sequence[Entry]]


def group_of(screen: Screen) -> Group:
    """Return the group that a screen names, or that of all others."""
    return screen.group if isinstance(screen, Grouped) else Group.SYSTEM


def navigation(screens: Iterable[Screen], waiting: Mapping[str, int]) -> Navigation:
    """Return the entries of the screens by group, in the order of the screens."""
    found: dict[Group, list[Entry]] = {group: [] for group in Group}
    for each in screens:
        icon = each.icon if isinstance(each, Grouped) else UNKNOWN
        found[group_of(each)].append(Entry(each.name, icon, waiting.get(each.name, 0)))
    return found
