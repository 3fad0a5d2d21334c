"""The one way in for events: what an event tells of its sender is stored, then `Access` decides."""

from channels.base import InboundEvent
from gateway.app.moments import Moments
from gateway.app.revocation import Revocation
from gateway.permissions.access import Access, Decision
from gateway.store.standings import Standings, person_in


class Gate:
    """Authorises events of all kinds."""

    def __init__(self, access: Access, standings: Standings, revocation: Revocation, moments: Moments) -> None:
        self.access = access
        self._standings = standings
        self._revocation = revocation
        self._moments = moments

    async def authorize(self, event: InboundEvent) -> Decision:
        """Decide on an event. A sender whom it shows to have lost a role on the server loses what is open too."""
        told = event.sender.standing
        if told is not None and self.access.groups.is_news(event.chat, event.sender, told):
            person = person_in(event.chat, event.sender.id)
            await self._standings.save(person, told)
            self.access.groups.standings[person] = told
            if not self.access.may_speak(event.chat, event.sender):
                await self._revocation.sweep()
        decision = self.access.authorize(event)
        if decision is Decision.ALLOWED:
            self._moments.admitted(event)
        return decision
