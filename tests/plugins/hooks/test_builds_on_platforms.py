"""A build that fails tells the team, on each platform: GitHub's event comes as a short message, or as two sentences."""

import json
import re

import aiohttp
import pytest

from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage
from tests.plugins.hooks.sending import of_github

pytestmark = pytest.mark.timeout(120)

RUN = {"name": "Tests", "head_branch": "main", "conclusion": "failure"}
FAILED = {
    "action": "completed",
    "repository": {"full_name": "ann/garden"},
    "sender": {"login": "bob"},
}


async def github_sends(stage: Stage, private: Chat, number: int) -> None:
    """Send the event of a build to the address in somebody's private chat, signed with the secret that stands there."""
    text = "\n".join(private.screen)
    address, secret = re.search(r"http://127\.0\.0\.1:\d+/hooks/[0-9a-f]+", text), re.search(r"only now: (\S+)", text)
    assert address, text
    assert secret, text
    page = f"https://github.com/ann/garden/actions/runs/{number}"
    body = json.dumps({**FAILED, "workflow_run": {**RUN, "html_url": page}}).encode()
    headers = {**of_github(secret[1], body, 0.0), "X-GitHub-Event": "workflow_run", "X-GitHub-Delivery": str(number)}
    async with aiohttp.ClientSession() as github, github.post(address[0], data=body, headers=headers) as answer:
        assert answer.status == 200
    assert secret[1] not in stage.program.console


@where(lambda facts: facts.emulated and facts.groups)
async def test_a_failing_build_tells_the_team(own_stage: Stage) -> None:
    stage, program = own_stage, own_stage.program
    ann, chat = stage.private("Ann")
    program.set("PARLEY_WEB_PORT", "0")
    program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    program.set("PARLEY_WEB", "on")
    await stage.start()
    team = stage.net.emulator.group("Team", [ann])
    await chat.says(ann, "/help")
    await chat.until(lambda c: len(c.bot_messages) > 0)

    await team.says(ann, "/hook add builds github")
    await chat.until(lambda c: "/hooks/" in c.screen[-1])
    await github_sends(stage, chat, 1)
    await team.until(lambda c: "ann/garden" in c.screen[-1])
    told = team.screen[-1]
    for words in ("GitHub: workflow_run completed · ann/garden · bob", "Tests · main · failure", "/actions/runs/1"):
        assert words in told
    assert "\\" not in told

    await team.says(ann, "/hook ask builds Say in two sentences why it failed.")
    await team.until(lambda c: "From now on I do that" in c.screen[-1])
    stage.script.then(says("The tests failed after bob's change. Look at the run on main."))
    await github_sends(stage, chat, 2)
    await team.until(lambda c: "Look at the run" in c.screen[-1] and "webhook builds, set by Ann" in c.screen[-1])
    assert "only now" not in "\n".join(team.screen)
