"""A team begins with Parley: pairing, a stranger, roles, a skill, a budget, search, and the end of it."""

import asyncio
import re
from dataclasses import dataclass

import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import Stage, ends_with, is_finished
from tests.process import until

pytestmark = [pytest.mark.quick_clock, where(lambda facts: facts.groups)]
CODE = re.compile(r"me `?/pair ([^\s`]+)`? there")
ACCOUNT = re.compile(r"(?:telegram|slack|discord):[\w:]+")
SESSION = re.compile(r"([0-9a-f]{6})\W+When is lunch")


@dataclass(frozen=True)
class Team:
    """Ann, who becomes the owner, and Bob, who is a stranger; each in a direct chat."""

    stage: Stage
    ann: Person
    bob: Person
    anns: Chat
    bobs: Chat

    async def ann_says(self, text: str, answer: str) -> None:
        before = len(self.anns.screen)
        await self.anns.says(self.ann, text)
        await self.anns.until(lambda c: any(answer in shown for shown in c.screen[before:]) and is_finished(c))

    async def bob_says(self, text: str, answer: str) -> str:
        """Returns the whole message that holds the answer."""
        before = len(self.bobs.screen)
        await self.bobs.says(self.bob, text)
        await self.bobs.until(lambda c: len(c.screen) > before and answer in c.screen[-1] and is_finished(c))
        return self.bobs.screen[-1]


async def test_a_team_lives_with_parley(own_stage: Stage) -> None:
    own_stage.program.set("PARLEY_ALLOW", "")
    await own_stage.start()
    ann, bob = own_stage.net.person("Ann"), own_stage.net.person("Bob")
    team = Team(own_stage, ann, bob, own_stage.net.private(ann), own_stage.net.private(bob))

    await _ann_pairs(team)
    bobs_account = await _bob_is_let_in_as_a_guest(team)
    await _bob_becomes_a_member_and_uses_a_skill(team, bobs_account)
    await _a_budget_ends_and_is_raised(team, bobs_account)
    await _an_earlier_conversation_is_resumed(team)
    await _bob_is_revoked_in_mid_run(team, bobs_account)


async def _ann_pairs(team: Team) -> None:
    await until(lambda: CODE.search(team.stage.program.console) is not None)
    code = CODE.findall(team.stage.program.console)[-1]

    await team.ann_says(f"/pair {code}", "You are the owner now.")


async def _bob_is_let_in_as_a_guest(team: Team) -> str:
    """Returns Bob's account."""
    team.stage.script.then(says("At noon."))
    await team.bob_says("When is lunch?", "I have asked the owner.")
    await team.anns.until(lambda c: "When is lunch?" in c.screen[-1])
    assert team.stage.model.requests == []

    await team.anns.presses(team.ann, "As guest")
    await team.bobs.until(ends_with("At noon."))

    await team.bob_says("/people", "Only owners and admins")
    found = ACCOUNT.search(await team.bob_says("/whoami", "Guest"))
    assert found is not None
    return found[0]


async def _bob_becomes_a_member_and_uses_a_skill(team: Team, account: str) -> None:
    team.stage.script.then(calls(ToolUse("load_skill", {"name": "book-flight"})), says("I can look for flights."))
    await team.ann_says(f"/role {account} member", "Member, from now on.")

    await team.bob_says("Can you find flights?", "I can look for flights.")

    assert any("book-flight" in each for each in team.stage.model.requests[-1].texts("tool"))


async def _a_budget_ends_and_is_raised(team: Team, account: str) -> None:
    requests = len(team.stage.model.requests)
    team.stage.script.then(says("It is sunny."))
    bob = f"{team.stage.platform.facts.name}:{team.bob.id}"  # on Slack without the workspace
    await team.ann_says(f"/budget {bob} 10 tokens a day", "The budget is set")
    await team.bob_says("How is the weather?", "A budget has no room")
    assert len(team.stage.model.requests) == requests

    await team.anns.says(team.ann, f"/budget {account} 10m tokens a day")

    await team.bobs.until(ends_with("It is sunny."))


async def _an_earlier_conversation_is_resumed(team: Team) -> None:
    await team.bob_says("/new", "New conversation started.")
    [session] = SESSION.findall(await team.bob_says("/sessions", "When is lunch"))

    await team.bob_says(f"/resume {session}", "Back in")


async def _bob_is_revoked_in_mid_run(team: Team, account: str) -> None:
    writing = asyncio.Event()
    requests = len(team.stage.model.requests)
    team.stage.script.then(says("Too late.", hold=writing))
    await team.bobs.says(team.bob, "Write a long story")
    await team.stage.asked(requests + 1)

    await team.ann_says(f"/role {account} none", "No role, from now on.")
    writing.set()

    await team.bob_says("Hello?", "I have asked the owner.")
    assert not any("Too late." in shown for shown in team.bobs.screen)
