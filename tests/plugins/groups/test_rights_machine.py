"""No sequence of commands, events and restarts gives anyone rights but through somebody who holds them.

A whole gateway, with this plugin's commands, runs over a database in memory. `rights_model` computes each person's
rights by itself. `PARLEY_SEQUENCES=10000 pytest --timeout 0` runs as many sequences.
"""

import asyncio
import os
import re
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agent_core.clock import new_id
from agent_core.models.scripted import ScriptedLlm
from channels.base import (
    Accepted,
    ButtonPressed,
    InboundEvent,
    MessageEdited,
    MessageReceived,
    ReactionAdded,
    RequestMade,
    Sender,
)
from gateway.admin.desk import CommandRefused
from gateway.app.app_settings import AppSettings, System
from gateway.app.composition import Gateway, composed
from gateway.app.page_commands import PageCommands
from gateway.permissions.roles import People
from gateway.texts.about import About
from tests.examples import examples
from tests.gateway.bot import BotOptions
from tests.gateway.in_force import in_force
from tests.gateway.memory_store import MemoryDatabase
from tests.plugins.groups.rights_model import COOKS, HOUR, OWNER, WEEK, Model, Place, Told, rank, rises
from tests.plugins.groups.rights_world import (
    ACCOUNTS,
    GROUPS,
    KEYS,
    NAMES,
    PLACES,
    PLATFORMS,
    SEEDS,
    SENDERS,
    CookServer,
    Server,
    StillClock,
    command,
    key,
    owned,
    rights,
    sender,
)

SEQUENCES = int(os.environ.get("PARLEY_SEQUENCES", examples(40)))
T = TypeVar("T")

people, accounts = st.sampled_from(NAMES), st.sampled_from(ACCOUNTS)
groups, rooms = st.sampled_from(GROUPS), st.sampled_from([*GROUPS, None, None, None])
"""None stands for the person's direct chat."""
levels = st.sampled_from(["", " here", " channel", " workspace", " everywhere"])
audiences = st.sampled_from(
    [
        *("listed", "everybody", "workspace", f"role {COOKS}", "role 1", "everybody owner", "x", "default"),
        *("everybody member", "workspace member", f"role {COOKS} member"),
    ]
)
GIVEN = ("admin", "admin", "admin", "owner", "member", "guest")
waits = st.sampled_from([0.0, 0.0, 0.0, 599.0, 601.0, HOUR - 1, HOUR + 1, WEEK - 1, WEEK + 1])
verdicts = st.sampled_from(["member", "member", "guest", "ignore", "block", "owner"])
roles = st.sampled_from(["owner", "admin", "member", "guest", "none", "king"])
changes = st.builds("role {} {}".format, accounts, roles)
commands = st.one_of(
    changes,
    changes,
    changes,
    st.builds("allow {}{}".format, accounts, st.sampled_from(["", " guest", " member", " admin"])),
    st.builds("block {}".format, accounts),
    st.builds("link off {}".format, accounts),
    st.builds("speakers {}{}".format, audiences, levels),
    st.builds("tools exec allow{}".format, levels),
    st.builds("stranger {} {}".format, st.sampled_from(["member", "guest", "owner"]), st.sampled_from(["1", "x"])),
    st.sampled_from(["link off", "people", "whoami", "activation always everywhere", "link 00000000 yes"]),
)
standings = st.one_of(st.none(), st.builds(Told, st.booleans(), st.booleans()))
CODE = re.compile(r"/link (\w{8})`")


class Rights(RuleBasedStateMachine):
    """Events of everybody everywhere: commands, presses also of forged and old buttons, codes, edits, restarts."""

    @initialize(given=st.lists(st.tuples(accounts, st.sampled_from(GIVEN)), max_size=4))
    def begin(self, given: Sequence[tuple[str, str]]) -> None:
        """The owner gives some people roles at first."""
        self.clock, self.database = StillClock(), MemoryDatabase()
        self.folder = TemporaryDirectory()
        self.channels = [CookServer("memory"), Server("other")]
        self.model = Model(dict(SEEDS), now=self.clock.now)
        self.codes = ["00000000"]
        self.links = ["00000000"]
        self.newest: dict[str, str] = {}
        """The id in the newest buttons about each stranger."""
        self.runner = asyncio.Runner()
        self.run(self.start())
        for account, role in given:
            self.told(Place("memory", "ann"), "ann", None, f"role {account} {role}")

    def run(self, work: Coroutine[object, object, T]) -> T:
        return self.runner.run(work)

    async def start(self) -> None:
        current = in_force(home=Path(self.folder.name), audit=False)
        owners = frozenset(each for each, role in SEEDS.items() if role == OWNER)
        self.life = AsyncExitStack()
        self.made: Gateway = await self.life.enter_async_context(
            composed(
                AppSettings(current, People(owners, frozenset(SEEDS) - owners)),
                self.database.store(self.clock, new_id),
                self.channels,
                BotOptions().parts(ScriptedLlm(), current),
                About(model="m", why="", is_ai=True, version="0", started=0.0),
                system=System(self.clock, console=lambda _: None),
            )
        )
        events, table = self.made.events, self.made.commands.table
        self.page = PageCommands(events.admission, table, events.chat_commands, self.made.base.audit, self.clock)

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self.run(self.life.aclose())
            self.runner.close()
            self.database.close()
            self.folder.cleanup()

    # What happens

    @rule(who=people, platform=st.sampled_from(PLATFORMS), room=rooms, words=commands, told=standings)
    def says_a_command(self, who: str, platform: str, room: Place | None, words: str, told: Told | None) -> None:
        at = room or Place(platform, who)
        self.told(at, who, told if at.is_group and at.platform == "memory" else None, words)

    @rule(
        account=accounts, words=st.sampled_from([*(f"role {{}} {each}" for each in GIVEN), "role {} none", "block {}"])
    )
    def the_owner_decides(self, account: str, words: str) -> None:
        self.told(Place("memory", "ann"), "ann", None, words.format(account))

    @rule(at=groups, words=st.builds("speakers {}{}".format, audiences, levels))
    def the_owner_opens_a_group(self, at: Place, words: str) -> None:
        self.told(at, "ann", None, words)

    @rule(who=people, at=st.sampled_from(PLACES), words=commands)
    def presses_a_forged_button(self, who: str, at: Place, words: str) -> None:
        self.pressed(at, who, words)

    @rule(account=accounts, at=st.sampled_from(PLACES), words=commands)
    def a_visitor_of_the_page_gives_a_command(self, account: str, at: Place, words: str) -> None:
        known, before = self.ids(), self.model.copy()
        name, *rest = words.split()
        may = self.model.may_visit(at, account, name)
        self.run(self.deliver())
        try:
            self.run(self.page.run(Sender(id=account, name=account), key(at), f"/{words}"))
            assert may is not False
            if self.model.own(account) is not None:
                self.model.obeys(at, account, name, rest, known)
        except CommandRefused:
            assert not may
        self.run(self.deliver())
        self.check_who_gave(before, at, account, words)

    @rule(who=people, number=st.integers(0, 50))
    def presses_a_button_that_was_shown(self, who: str, number: int) -> None:
        """Anybody presses, also a button in somebody else's chat, and long after it was shown."""
        shown = [
            (posted.chat, button.action[1:])
            for channel in self.channels
            for posted, message in channel.posts
            for row in message.buttons
            for button in row
            if button.action.startswith("/")
        ]
        if shown:
            chat, action = shown[number % len(shown)]
            self.pressed(Place(chat.platform, chat.chat, chat.thread), who, action)

    @rule(first=people, second=people, one=rooms, other=rooms, words=commands, others=commands)
    def two_at_once(
        self, first: str, second: str, one: Place | None, other: Place | None, words: str, others: str
    ) -> None:
        """Both orders are right, and nothing else."""
        here, there = one or Place("memory", first), other or Place("memory", second)
        known = self.ids()
        orders = [((here, first, words), (there, second, others)), ((there, second, others), (here, first, words))]
        possible = []
        for order in orders:
            model = self.model.copy()
            for at, who, said in order:
                self.expect(model, at, who, None, said, known)
            possible.append(model)
        self.run(self.deliver(command(here, first, None, words), command(there, second, None, others)))
        found = self.found()
        self.model = next((each for each in possible if rights(each) == found), possible[0])

    @rule(who=people, at=st.sampled_from(PLACES), what=st.sampled_from(["edits", "reacts", "uploads"]))
    def does_something_else(self, who: str, at: Place, what: str) -> None:
        """An edit whose words are a command gives no rights either."""
        chat, by, event_id, words = key(at), sender(who, None), new_id(), f"/role {at.platform}:{who} owner"
        event: InboundEvent = RequestMade(event_id=event_id, chat=chat, sender=by, at=1.0, what="upload")
        if what == "edits":
            event = MessageEdited(event_id=event_id, chat=chat, sender=by, at=1.0, message_id="m", text=words)
        elif what == "reacts":
            event = ReactionAdded(event_id=event_id, chat=chat, sender=by, at=1.0, message_id="m", emoji="👍")
        [accepted] = self.run(self.deliver(event))
        assert (accepted is Accepted.REFUSED) == (not self.model.hears(at, who, None))

    def a_stranger_writes(self, account: str) -> None:
        platform, who = account.split(":")
        at = Place(platform, who)
        if self.model.role(at, who) is None:
            event = MessageReceived(
                event_id=new_id(), chat=key(at), sender=sender(who, None), at=1.0, message_id=new_id(), text="hello"
            )
            self.model.knocks(at, who)
            assert self.run(self.deliver(event)) == [Accepted.REFUSED]
            self.ids()

    @rule(
        first=accounts,
        second=accounts,
        wrong=st.sampled_from([0, 0, 1, 4, 5]),
        wait=waits,
        room=st.sampled_from([None, None, None, GROUPS[0]]),
        back=st.sampled_from([1, 1, 1, 2]),
    )
    def says_the_code_on_the_console(
        self, first: str, second: str, wrong: int, wait: float, room: Place | None, back: int
    ) -> None:
        """Somebody says the newest code or an older one, after wrong tries and a while; then somebody else does."""
        self.shown_code()
        platform, who = first.split(":")
        at = room or Place(platform, who)
        for _ in range(wrong):
            self.told(at, who, None, "pair 00000000")
        self.passes(wait)
        self.told(at, who, None, f"pair {self.codes[-min(back, len(self.codes))]}")
        platform, who = second.split(":")
        self.told(Place(platform, who), who, None, f"pair {self.codes[-1]}")

    @rule(tried=st.sampled_from([*([each] for each in ACCOUNTS[:2]), ACCOUNTS]), times=st.integers(4, 8))
    def tries_many_codes(self, tried: Sequence[str], times: int) -> None:
        """One sender is locked soon; all together make a new code."""
        said = []
        for account in tried:
            platform, who = account.split(":")
            at = Place(platform, who)
            said += [command(at, who, None, "pair 00000000") for _ in range(times)]
            for _ in range(times):
                self.expect(self.model, at, who, None, "pair 00000000", {})
        self.run(self.deliver(*said))

    def shown_code(self) -> None:
        code = self.run(self.made.people.pairing.code()).text
        if self.model.valid_code is None:
            assert code not in self.codes, "a code that was used or has expired is shown again"
            self.model.code, self.model.wrong_of_code = (code, self.clock.now + HOUR), 0
            self.codes.append(code)
        assert code == self.model.valid_code

    @rule(
        giver=accounts,
        sayers=st.lists(accounts, min_size=1, max_size=2),
        meanwhile=st.one_of(st.none(), st.builds("{} {}".format, st.sampled_from(["block", "role"]), accounts)),
        wait=waits,
        room=st.sampled_from([None, None, None, GROUPS[0]]),
    )
    def links_accounts(
        self, giver: str, sayers: Sequence[str], meanwhile: str | None, wait: float, room: Place | None
    ) -> None:
        """Somebody asks for a code; the owner changes somebody's role; others say the code."""
        platform, who = giver.split(":")
        at = Place(platform, who)
        self.run(self.deliver(command(at, who, None, "link")))
        if self.model.role(at, who) is not None:
            channel = self.channels[PLATFORMS.index(platform)]
            self.links.append(CODE.findall(channel.screen_of(key(at))[-1])[-1])
            self.model.offers_link(at, who, self.links[-1])
        if meanwhile is not None:
            self.told(Place("memory", "ann"), "ann", None, meanwhile + " guest" * meanwhile.startswith("role"))
        self.passes(wait)
        for account in sayers:
            platform, who = account.split(":")
            at = room or Place(platform, who)
            ending = " yes" if self.model.role(at, who) else ""
            self.told(at, who, None, f"link {self.links[-1]}{ending}")

    @rule(account=accounts, presser=people, at=st.sampled_from(PLACES), verdict=verdicts, wait=waits, again=verdicts)
    def a_stranger_is_decided_about(
        self, account: str, presser: str, at: Place, verdict: str, wait: float, again: str
    ) -> None:
        """Somebody presses a button about a stranger, perhaps much later, and another one after it."""
        self.a_stranger_writes(account)
        self.ids()
        key_of = self.newest.get(account, "0")
        self.passes(wait)
        for said in (verdict, again):
            self.pressed(at, presser, f"stranger {said} {key_of}")

    def passes(self, seconds: float) -> None:
        self.clock.now += seconds
        self.model.now = self.clock.now

    @rule()
    def restarts(self) -> None:
        """All that is only in memory is lost."""
        self.run(self.life.aclose())
        self.run(self.start())

    # What must hold

    @invariant()
    def everybody_has_the_rights_that_were_given(self) -> None:
        if hasattr(self, "runner"):
            assert self.found() == rights(self.model)

    # Events on both sides

    def told(self, at: Place, who: str, told: Told | None, words: str) -> None:
        known, before = self.ids(), self.model.copy()
        self.expect(self.model, at, who, told, words, known)
        self.run(self.deliver(command(at, who, told, words)))
        self.check_who_gave(before, at, who, words)

    def pressed(self, at: Place, who: str, action: str) -> None:
        known, before = self.ids(), self.model.copy()
        if self.model.role(at, who) is not None:
            self.expect(self.model, at, who, None, action, known)
        press = ButtonPressed(
            event_id=new_id(),
            chat=key(at),
            sender=sender(who, None),
            at=1.0,
            message_id="m",
            action=f"/{action}"[:64],
        )
        self.run(self.deliver(press))
        self.check_who_gave(before, at, who, action)

    def check_who_gave(self, before: Model, at: Place, who: str, words: str) -> None:
        """Whoever rose was raised by an owner, by an admin to less than that, or by a valid code."""
        old, new = owned(before), owned(self.model)
        for _, role in rises(old, new):
            holders = [before.role(at, who)]
            name, _, rest = words.partition(" ")
            if name == "pair" and rest == before.valid_code:
                holders.append(OWNER)
            if name == "link" and rest[:8] in before.links:
                holders.append(before.own(before.links[rest[:8]][0]))
            assert any(rank(each) > rank(role) or each == OWNER for each in holders), (who, words)

    def expect(self, model: Model, at: Place, who: str, told: Told | None, words: str, known: dict[str, str]) -> None:
        """Apply a command to the model."""
        name, *rest = words.split()
        if model.hears(at, who, told):
            model.obeys(at, who, name, rest, known)
        elif name == "pair":
            model.pairs(at, who, rest[0])
        elif name == "link":
            model.links_up(at, who, "".join(rest))
        else:
            model.knocks(at, who)

    async def deliver(self, *events: InboundEvent) -> list[Accepted]:
        taken = await asyncio.gather(*(self.made.events.handler.accept(event) for event in events))
        await self.made.settled()
        await self.made.people.stranger_notices.settled()
        return taken

    def ids(self) -> dict[str, str]:
        """Return the accounts of strangers by the ids in their newest buttons; older buttons are of no use any more."""
        for each in self.run(self.made.base.store.strangers.all()):
            self.newest[each.principal] = each.id
        return {each: account for account, each in self.newest.items()}

    def found(self) -> dict[tuple[str, Place], str | None]:
        access = self.made.people.access
        return {(who, at): access.role(chat, by) for who, by in SENDERS.items() for at, chat in KEYS.items()}


TestRights = Rights.TestCase
TestRights.settings = settings(
    max_examples=SEQUENCES, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
