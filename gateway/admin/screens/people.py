"""The screen of people: their roles, and the strangers who wait."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from gateway.admin.screen import Group, View, Visit
from gateway.commands.people import BLOCKED, NONE, ROLES
from gateway.permissions.access import Access
from gateway.permissions.namesakes import Namesakes
from gateway.permissions.roles import Role, Roles
from gateway.store.person import Person
from gateway.upkeep.stranger_notices import VERDICTS
from gateway.upkeep.strangers import Strangers

MOST_LISTED = 200


class _Row(Struct, frozen=True):
    name: str
    accounts: tuple[str, ...]
    role: str
    """Text key."""
    in_settings: bool
    changes: Mapping[str, str]
    """The roles that the visitor can give, with their text keys."""
    can_block: bool
    alike: tuple[str, ...]
    """The accounts of other owners who look like the same person."""


class _Waiting(Struct, frozen=True):
    id: str
    name: str
    principal: str
    words: str


class PeopleScreen:
    """Shows everybody with a role or a block, and lets the visitor change them."""

    name = "people"
    group = Group.PEOPLE
    icon = "users"

    def __init__(self, roles: Roles, strangers: Strangers, access: Access) -> None:
        self._roles = roles
        self._namesakes = Namesakes(roles, access)
        self._access = access
        self._strangers = strangers

    async def view(self, visit: Visit) -> View:
        """Return the people whose name or account contains the words of the query."""
        wanted = visit.query.get("q", "").strip()
        found = [self._row(each, visit, group) for group in self._namesakes.everybody() for each in group]
        rows = [each for each in found if wanted.casefold() in f"{each.name} {each.accounts}".casefold()]
        waiting = [
            _Waiting(each.id, each.event.sender.name, each.principal, each.words)
            for each in await self._strangers.waiting()
        ]
        facts = {"people": rows[:MOST_LISTED], "waiting": waiting, "verdicts": VERDICTS, "wanted": wanted}
        return View("people.html", facts)

    async def waiting(self) -> int:
        """Return the number of strangers who wait."""
        return len(await self._strangers.waiting())

    def _row(self, person: Person, visit: Visit, alike: Sequence[Person]) -> _Row:
        accounts = tuple(each.principal for each in person.accounts)
        names = (each.name for each in person.accounts)
        role = self._roles.of(accounts[0])
        is_self = visit.visitor.principal in accounts
        offered = [] if is_self else [each for each in Role if each is not role and _may_give(visit, each)]
        changes = {str(each): ROLES[each] for each in offered}
        if role is not None and not is_self:
            changes[NONE] = ROLES[NONE]
        return _Row(
            name=next(filter(None, (*map(self._access.name_of, accounts), *names)), "–"),
            accounts=accounts,
            role=ROLES[role.value if role else BLOCKED if person.is_blocked else NONE],
            in_settings=self._roles.seeded(accounts[0]) is not None,
            changes=changes,
            can_block=not person.is_blocked and not is_self,
            alike=tuple(account.principal for each in alike if each is not person for account in each.accounts),
        )


def _may_give(visit: Visit, role: Role) -> bool:
    return visit.is_owner or not role.is_at_least(Role.ADMIN)
