"""The people: their roles, access, pairing and time zones, and the messages to owners about them."""

from gateway.app.channel_server import Supervisor
from gateway.app.parts.base import Base
from gateway.permissions.access import Access, GroupAccess
from gateway.permissions.group_rules import GroupRules
from gateway.permissions.groups import Groups
from gateway.permissions.membership import Membership
from gateway.permissions.pairing import Pairing
from gateway.permissions.roles import Roles
from gateway.schedule.zones import Zones
from gateway.upkeep.owners import Owners, PairingCode
from gateway.upkeep.readers import Readers
from gateway.upkeep.stranger_notices import StrangerNotices
from gateway.upkeep.strangers import Strangers


class PeopleParts:
    """The people: their roles, access, pairing and time zones, and the messages to owners about them."""

    def __init__(self, base: Base) -> None:
        stored, store, delivery, clock = base.stored, base.store, base.delivery, base.clock
        self.roles = Roles(base.settings.people, stored.people)
        self.groups = GroupAccess(Groups(stored.group_rules), dict(stored.standings))
        self.group_rules = GroupRules(self.groups.rules, store.chat_settings, base.audit)
        self.access = Access(self.roles, base.channels, stored.spoken_in, clock, groups=self.groups, seen=stored.seen)
        readers = Readers(self.roles, self.access, delivery)
        self.owners = Owners(self.roles, readers, store, delivery, base.current, base.new_id)
        self.supervisor = Supervisor(self.owners, clock)
        self.membership = Membership(self.access, self.roles, store, base.audit, clock, base.new_id)
        public = base.channels.names(lambda channel: not channel.limits.is_local)
        show = PairingCode(public, self.owners, base.current, base.console)
        self.pairing = Pairing(store.pairing, self.membership, self.roles, clock, public, show)
        self.stranger_notices = StrangerNotices(store, delivery, self.owners, base.current)
        who = self.access, self.membership, self.pairing, self.stranger_notices
        self.strangers = Strangers(store, *who, clock=clock, new_id=base.new_request_id)
        self.zones = Zones(store, base.current, self.access, chats=stored.zones, people=stored.person_zones)
