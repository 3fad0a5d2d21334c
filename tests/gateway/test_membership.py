"""No sequence of role changes gives anybody rights but through somebody who holds them, across restarts too."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.clock import SystemClock, new_id
from channels.base import ChatKey, Sender
from channels.memory import MemoryChannel
from gateway.permissions.access import Access
from gateway.permissions.membership import By, Membership, RoleRefused
from gateway.permissions.roles import People, Role, Roles
from gateway.store.person import Account
from gateway.store.store import Store

NAMES = ("ann", "bob", "carl", "dave", "eve")
SETTINGS = People(owners=frozenset({"memory:ann"}), allow=frozenset({"memory:bob"}))
BLOCK, RESTART = "block", "restart"
Step = tuple[str, str, Role | str | None]
STEPS = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from([*Role, None, BLOCK, RESTART]))


class Club:
    """People with roles over one store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def open(self) -> None:
        self.roles = Roles(SETTINGS, await self.store.people.all())
        self.access = Access(self.roles, [MemoryChannel()], (), SystemClock(), print)
        self.membership = Membership(self.access, self.roles, self.store, SystemClock(), new_id)

    def all(self) -> dict[str, Role | None]:
        return {name: self.roles.of(f"memory:{name}") for name in NAMES}

    async def take(self, step: Step) -> None:
        maker, target, act = step
        by = By(ChatKey(platform="memory", account="here", chat=maker), Sender(id=maker, name=maker))
        account = Account(f"memory:{target}", target)
        if act == RESTART:
            await self.open()
        elif act == BLOCK:
            await self.membership.block(by, account)
        else:
            await self.membership.give(by, account, Role(act) if act else None)


def is_allowed(maker: Role | None, before: Role | None, after: Role | None) -> bool:
    """Return True if somebody with the maker's role may change another's role so."""
    if maker is Role.OWNER:
        return True
    return maker is Role.ADMIN and not any(each and each.is_at_least(Role.ADMIN) for each in (before, after))


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(STEPS, max_size=25))
async def test_rights_come_from_those_who_hold_them(steps: list[Step]) -> None:
    with TemporaryDirectory() as home:
        async with Store.open(Path(home), SystemClock(), new_id) as store:
            club = Club(store)
            await club.open()
            for step in steps:
                before = club.all()
                try:
                    await club.take(step)
                except RoleRefused:
                    assert club.all() == before
                after = club.all()
                changed = [name for name in NAMES if before[name] != after[name]]
                assert changed in ([], [step[1]])
                assert step[0] not in changed
                assert all(is_allowed(before[step[0]], before[name], after[name]) for name in changed)
                assert after["ann"] is Role.OWNER
            known = club.all()
            await club.open()
            assert club.all() == known
