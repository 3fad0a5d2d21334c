"""Roles come from the settings and from rows, a block wins over `allow`, and owners in the settings keep theirs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_core.clock import new_id
from channels.base import ChatKey, Sender
from channels.limits import Limits
from channels.memory import MemoryChannel
from gateway.permissions.access import Access
from gateway.permissions.roles import People, Role, Roles
from gateway.settings.permissions import PermissionSettings
from gateway.store.person import ROLES, Account, Person, RoleName
from gateway.store.store import Store
from tests.clock import FakeClock

SETTINGS = People(owners=frozenset({"memory:ann"}), allow=frozenset({"memory:bob", "slack:U7"}))
CHAT = ChatKey(platform="memory", account="here", chat="eve")
EVE = Person("p1", "guest", by="memory:ann", at=1.0, accounts=(Account("memory:eve", "Eve", CHAT),))


def known(principal: str, role: RoleName | None = None, *, is_blocked: bool = False) -> Person:
    return Person(principal, role, is_blocked, accounts=(Account(principal),))


@pytest.mark.parametrize(
    ("principal", "person", "role"),
    [
        ("memory:ann", None, Role.OWNER),
        ("memory:bob", None, Role.MEMBER),
        ("memory:eve", None, None),
        ("memory:eve", known("memory:eve", "guest"), Role.GUEST),
        ("memory:bob", known("memory:bob", "admin"), Role.ADMIN),
        ("memory:bob", known("memory:bob", "guest"), Role.MEMBER),
        ("memory:bob", known("memory:bob", "admin", is_blocked=True), None),
        ("memory:ann", known("memory:ann", is_blocked=True), Role.OWNER),
    ],
)
def test_the_role_of_a_person(principal: str, person: Person | None, role: Role | None) -> None:
    assert Roles(SETTINGS, [person] if person else []).of(principal) is role


def test_a_changed_role_holds_at_once() -> None:
    roles = Roles(SETTINGS, [EVE])
    roles.put(replace(EVE, role="admin"))
    assert roles.of("memory:eve") is Role.ADMIN

    roles.put(replace(EVE, role=None))

    assert roles.of("memory:eve") is None


@given(role=st.sampled_from([None, *ROLES]), allowed=st.booleans())
def test_a_block_takes_every_right_but_that_of_an_owner_in_the_settings(
    role: RoleName | None, *, allowed: bool
) -> None:
    settings = People(frozenset({"memory:ann"}), frozenset({"memory:eve"} if allowed else ()))
    roles = Roles(settings, [known("memory:eve", role, is_blocked=True), known("memory:ann", role, is_blocked=True)])

    assert roles.of("memory:eve") is None
    assert roles.of("memory:ann") is Role.OWNER


def test_each_role_has_the_rights_of_those_after_it() -> None:
    ordered = [Role.OWNER, Role.ADMIN, Role.MEMBER, Role.GUEST]
    assert list(Role) == ordered
    for number, role in enumerate(ordered):
        assert [role.is_at_least(other) for other in ordered] == [place >= number for place in range(4)]


def test_the_same_id_in_another_workspace_is_somebody_else() -> None:
    channel = MemoryChannel(limits=Limits(max_text=100, ids_per_workspace=True))
    roles = Roles(SETTINGS, [known("memory:T1:eve", "admin")])
    access = Access(roles, [channel], (), FakeClock())
    here, there = (ChatKey(platform="memory", account=team, chat="c") for team in ("T1", "T2"))
    eve, bob = Sender(id="eve", name="Eve"), Sender(id="bob", name="Bob")

    assert (access.role(here, eve), access.role(there, eve)) == (Role.ADMIN, None)
    assert access.is_admin(here, eve)
    assert access.role(there, bob) is Role.MEMBER, "an entry of the settings names no workspace"


def test_admins_are_no_owners() -> None:
    access = Access(Roles(SETTINGS, [known("memory:eve", "admin")]), [MemoryChannel()], (), FakeClock())
    eve = Sender(id="eve", name="Eve")

    assert access.is_admin(CHAT, eve)
    assert not access.is_owner(CHAT, eve)


async def test_people_are_stored_and_accounts_move_between_them(tmp_path: Path) -> None:
    linked = replace(EVE, accounts=(*EVE.accounts, Account("other:7", "E.")))
    async with Store.open(tmp_path, FakeClock(), new_id) as store:
        await store.people.save(EVE)
        await store.people.save(known("other:7", "member"))
        await store.people.save(linked)

    async with Store.open(tmp_path, FakeClock(), new_id) as store:
        assert await store.people.all() == [linked], "a person without accounts is gone"


def test_a_guest_may_read_and_little_else() -> None:
    guest = {"read": "allow", "net": "ask", "write": "deny", "exec": "deny", "sandboxed": "deny", "admin": "deny"}
    assert PermissionSettings().guest == guest
