"""Knows who looks at the page now, in any tab."""

from collections import defaultdict

from agent_core.clock import Clock

LASTS = 45.0
"""Seconds for which a tab counts as looked at; while it is, it says so again every 20 seconds."""
MOST_TABS = 200


class Looks:
    """The tabs that somebody looks at, as they have said."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: defaultdict[str, dict[str, float]] = defaultdict(dict)
        """When each tab stops to count, by principal and tab."""

    def note(self, principal: str, tab: str, *, is_looked_at: bool) -> None:
        """Note what a tab says of itself."""
        tabs = self._until[principal]
        tabs.pop(tab, None)
        if is_looked_at:
            tabs[tab] = self._clock.time() + LASTS
        while len(tabs) > MOST_TABS:
            del tabs[next(iter(tabs))]

    def are_on(self, principal: str) -> bool:
        """Return True while somebody looks at a tab of this person."""
        now = self._clock.time()
        return any(until > now for until in self._until.get(principal, {}).values())
