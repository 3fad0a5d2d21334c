"""No sequence of commands, events and restarts gives anyone rights but through somebody who holds them.

The model keeps only what admins said and what the server told, and computes each person's rights from that by itself.
`PARLEY_SEQUENCES=10000 pytest tests/gateway/test_rights_machine.py` runs as many sequences.
"""

import asyncio
import os
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agent_core.clock import new_id
from channels.base import ChatKey, CommandInvoked, Sender, Standing
from channels.limits import Limits
from channels.memory import MemoryChannel
from gateway.app.gate import Gate
from gateway.app.revocation import Revocation
from gateway.chat.session import ChatSession
from gateway.commands.group_rules import GroupRules
from gateway.commands.groups import GroupCommands
from gateway.commands.table import CommandTable
from gateway.permissions.access import Access, Decision, GroupAccess
from gateway.permissions.groups import ACTIVATION, SPEAKERS, Groups
from gateway.permissions.roles import People, Roles
from gateway.store.person import Account, Person, RoleName
from gateway.store.store import Store
from gateway.upkeep.role_menus import RoleMenus
from tests.clock import FakeClock

SEQUENCES = int(os.environ.get("PARLEY_SEQUENCES", "15"))
OWNER, LISTED = "ann", "bob"
NAMES = (OWNER, LISTED, "carl", "dora", "zoe")
GROUPS = ("#team", "#plans")
CHATS = (*GROUPS, "zoe")
SEEDS = People(frozenset({f"memory:{OWNER}"}), frozenset({f"memory:{LISTED}"}))
RANKS = (None, "guest", "member", "admin", "owner")
COOKS = "67"

people, chats, threads = st.sampled_from(NAMES), st.sampled_from(CHATS), st.sampled_from((None, "7"))
audiences = st.sampled_from(["listed", "everybody", "workspace", f"role {COOKS}", "role 1", "everybody owner", "x"])
rights = st.sampled_from(["", " guest", " member", " admin"])
standings = st.builds(
    lambda cooks, full: Standing(roles=(COOKS,) if cooks else (), is_full_member=full), st.booleans(), st.booleans()
)


class Server(MemoryChannel):
    """A platform with one role and with full members."""

    def roles(self, chat: ChatKey) -> dict[str, str]:
        return {COOKS: "Cooks"}


class Nothing:
    """Stands for all that is open: it is not what this machine is about."""

    async def sweep(self) -> None:
        await asyncio.sleep(0)


class Rights(RuleBasedStateMachine):
    """Commands of everybody in all chats, standings told by the server, blocks by the owner, and restarts."""

    @initialize()
    def begin(self) -> None:
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.given: dict[str, RoleName] = {}
        self.blocked: set[str] = set()
        self.opened: dict[str, tuple[str, str]] = {}
        self.told: dict[str, Standing] = {}
        self.run(self.start())

    def run(self, work: object) -> object:
        return self.runner.run(work)  # type: ignore[arg-type]

    async def start(self) -> None:
        self.life = AsyncExitStack()
        self.store = await self.life.enter_async_context(Store.open(Path(self.folder.name), FakeClock(), new_id))
        self.channel = Server(limits=Limits(max_text=4_000, tells_full_members=True))
        self.roles = Roles(SEEDS, await self.store.people.all())
        rows = await self.store.chat_settings.named(ACTIVATION, SPEAKERS)
        groups = GroupAccess(Groups(rows), await self.store.standings.all())
        self.access = Access(self.roles, [self.channel], (), FakeClock(), lambda _: None, groups=groups)
        nothing = cast(Revocation, Nothing())
        menus = RoleMenus(self.store.menus, self.roles, (), lambda _: (), FakeClock())
        self.gate = Gate(self.access, self.store.standings, nothing, menus)
        commands = GroupCommands(GroupRules(groups.rules, self.store.chat_settings), nothing.sweep).commands
        self.table = CommandTable(commands, self.access)

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self.run(self.life.aclose())
            self.runner.close()
            self.folder.cleanup()

    # What happens

    @rule(who=people, chat=chats, thread=threads, words=audiences, ends=rights)
    def opens_a_group(self, who: str, chat: str, thread: str | None, words: str, ends: str) -> None:
        self.run(self.says(who, chat, thread, words + ends))
        self.expect(who, chat, words + ends)

    @rule(first=people, second=people, chat=chats, words=audiences, others=audiences)
    def two_at_once(self, first: str, second: str, chat: str, words: str, others: str) -> None:
        """The one whose row is written last decides; both are tried in the order in which they were said."""

        async def both() -> None:
            await asyncio.gather(self.says(first, chat, None, words), self.says(second, chat, None, others))

        self.run(both())
        self.expect(first, chat, words)
        self.expect(second, chat, others)

    @rule(who=people, chat=st.sampled_from(GROUPS), standing=standings)
    def the_server_tells(self, who: str, chat: str, standing: Standing) -> None:
        """A standing counts while it is told, and afterwards if it admitted the person or was known before."""
        sender = Sender(id=who, name=who, standing=standing)
        event = CommandInvoked(event_id="e", chat=key(chat), sender=sender, at=1.0, message_id="m", name="help")
        audience = self.opened.get(chat, ("listed", "guest"))[0]
        if who in self.told or (audience in ("workspace", f"role {COOKS}") and admits(audience, standing)):
            self.told[who] = standing
        decision = self.run(self.gate.authorize(event))
        assert (decision is Decision.ALLOWED) == (self.expected(who, chat, standing) is not None)

    @rule(who=people, role=st.sampled_from(["admin", "member", "guest"]), is_blocked=st.booleans())
    def the_owner_decides(self, who: str, role: RoleName, is_blocked: bool) -> None:  # noqa: FBT001
        person = Person(who, role, is_blocked, f"memory:{OWNER}", accounts=(Account(f"memory:{who}"),))
        self.run(self.store.people.save(person))
        self.roles.put(person)
        self.given[who] = role
        self.blocked = self.blocked | {who} if is_blocked else self.blocked - {who}

    @rule()
    def restarts(self) -> None:
        self.run(self.life.aclose())
        self.run(self.start())

    # What must hold

    @invariant()
    def everybody_has_the_rights_that_were_given(self) -> None:
        if not hasattr(self, "runner"):
            return
        for who in NAMES:
            for chat in CHATS:
                role = self.access.role(key(chat), Sender(id=who, name=""))
                assert role == self.expected(who, chat), (who, chat)

    # The model

    def expected(self, who: str, chat: str, standing: Standing | None = None) -> str | None:
        if who == OWNER:
            return "owner"
        if who in self.blocked:
            return None
        own = max(self.given.get(who), "member" if who == LISTED else None, key=RANKS.index)
        if own is not None or chat not in GROUPS:
            return own
        audience, given = self.opened.get(chat, ("listed", "guest"))
        return given if admits(audience, standing or self.told.get(who)) else None

    def expect(self, who: str, chat: str, words: str) -> None:
        """Take over a rule if it was well formed and given by an owner or admin in a group."""
        audience, given = words, "guest"
        for end in ("guest", "member"):
            if words.endswith(f" {end}"):
                audience, given = words.removesuffix(f" {end}"), end
        well_formed = audience in ("listed", "everybody", "workspace", f"role {COOKS}")
        if chat in GROUPS and well_formed and self.expected(who, chat) in ("owner", "admin"):
            self.opened[chat] = (audience, given)

    async def says(self, who: str, chat: str, thread: str | None, words: str) -> None:
        where = key(chat).model_copy(update={"thread": thread})
        sender = Sender(id=who, name=who)
        event = CommandInvoked(event_id="e", chat=where, sender=sender, at=1.0, message_id="m", name="speakers")
        if await self.gate.authorize(event) is Decision.ALLOWED:
            await self.table.run(self.session(where), event, "speakers", words)

    def session(self, chat: ChatKey) -> ChatSession:
        async def language(_: Sender) -> str:
            return "en"

        conversation = SimpleNamespace(channel=self.channel, language=language)
        return cast(ChatSession, SimpleNamespace(key=chat, conversation=conversation))


def key(chat: str) -> ChatKey:
    return ChatKey(platform="memory", account="here", chat=chat)


def admits(audience: str, standing: Standing | None) -> bool:
    if audience == "everybody":
        return True
    if standing is None:
        return False
    return (
        standing.is_full_member if audience == "workspace" else audience == f"role {COOKS}" and COOKS in standing.roles
    )


TestRights = Rights.TestCase
TestRights.settings = settings(
    max_examples=SEQUENCES, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
