"""The first owner, and strangers whom the owner lets in, on every platform that others can reach."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable

import pytest

from tests.emulators.model_script import ToolUse, Turn, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat, Person, within
from tests.end_to_end.stage import Stage, newest, shows

pytestmark = [pytest.mark.quick_clock, where(lambda facts: facts.name in {"telegram", "slack", "discord"})]
CODE = re.compile(r"/pair (\w{8})")
ACCOUNT = re.compile(r"(?:telegram|slack|discord):[\w:]+")


def reads(words: str) -> Callable[[Chat], bool]:
    return lambda chat: any(words in text for text in chat.screen)


async def paired(stage: Stage) -> tuple[Person, Chat]:
    """Start Parley without people; return its first owner, who paired, and their chat."""
    stage.program.set("PARLEY_ALLOW", "")
    ann = stage.net.stranger()
    chat = stage.net.private(ann)
    await stage.start()
    await within(30, lambda: CODE.search(stage.program.console) is not None, lambda: stage.program.console)
    code = CODE.findall(stage.program.console)[-1]
    await chat.says(ann, "/pair 00000000")
    await chat.until(reads("not the current code"))
    await chat.says(ann, f"/pair {code}")
    await chat.until(reads("You are the owner now"))
    return ann, chat


async def test_an_owner_pairs_and_lets_a_stranger_in_by_a_button(own_stage: Stage) -> None:
    own_stage.script.then(says("Hello, stranger."), says("Hello, owner."))
    ann, chat = await paired(own_stage)
    eve = own_stage.net.stranger()
    with_eve = own_stage.net.private(eve)

    await with_eve.says(eve, "may I come in?")
    await with_eve.until(shows("I have asked the owner."))
    await chat.until(reads("may I come in?"))
    assert [button.text for row in newest(chat).buttons for button in row] == ["Allow", "As guest", "Ignore", "Block"]
    assert own_stage.model.requests == []
    await chat.presses(ann, "As guest")
    await with_eve.until(reads("Hello, stranger."))
    await chat.until(lambda c: not reads("may I come in?")(c))

    await chat.says(ann, f"/role {own_stage.platform.facts.name}:{eve.id} member")
    await chat.until(reads("Member, from now on."))
    await with_eve.says(eve, "/whoami")
    await with_eve.until(reads("Member"))
    await chat.says(ann, f"/block {own_stage.platform.facts.name}:{eve.id}")
    await chat.until(reads("is blocked"))
    shown = len(with_eve.screen)
    await with_eve.says(eve, "and now?")
    await chat.says(ann, "hello")
    await chat.until(reads("Hello, owner."))
    assert len(with_eve.screen) == shown


async def test_an_owner_who_paired_is_one_after_a_kill(own_stage: Stage) -> None:
    own_stage.script.then(says("Hello again."))
    ann, chat = await paired(own_stage)

    await own_stage.program.kill()
    await own_stage.start()
    await chat.says(ann, "hello")

    await chat.until(reads("Hello again."))


async def test_a_hundred_wrong_codes_lock_their_sender_and_make_no_noise(own_stage: Stage) -> None:
    ann, chat = await paired(own_stage)
    eve = own_stage.net.stranger()
    with_eve = own_stage.net.private(eve)
    for number in range(100):
        await with_eve.says(eve, f"/pair wrong{number:03}")
    await with_eve.until(lambda c: len(c.screen) >= 5)

    await chat.says(ann, "/pair")
    await chat.until(lambda c: CODE.search(c.screen[-1]) is not None)
    [code] = CODE.findall(chat.screen[-1])[:1]
    await with_eve.says(eve, f"/pair {code}")
    await chat.says(ann, "/people")
    await chat.until(reads("These people are known"))

    # Several nodes receive from Slack, so the notice of the lock may overtake the answer to a try before it.
    wrong, locked = "not the current code", "Too many wrong codes"
    told = Counter(words for text in with_eve.screen for words in (wrong, locked) if words in text)
    assert told == {wrong: 4, locked: 1}
    assert len(with_eve.screen) == 5
    assert str(eve.id) not in chat.screen[-1]


async def test_a_lower_role_and_a_block_hold_in_mid_run(own_stage: Stage) -> None:
    writing, telling = asyncio.Event(), asyncio.Event()
    files = Turn(tools=(ToolUse("write_file", {"path": "plan.md", "content": "x"}),), hold=writing)
    own_stage.script.then(files, says("I may not write."), says("Never said.", hold=telling))
    ann, chat = await paired(own_stage)
    eve = own_stage.net.stranger()
    with_eve = own_stage.net.private(eve)
    await with_eve.says(eve, "write a plan")
    await chat.until(reads("write a plan"))
    await chat.presses(ann, "Allow")
    await own_stage.asked(1)
    await chat.says(ann, "/people")
    await chat.until(reads("These people are known"))
    [who] = [each for each in ACCOUNT.findall(chat.screen[-1]) if each.endswith(str(eve.id))]

    await chat.says(ann, f"/role {who} guest")
    await chat.until(reads("Guest, from now on."))
    writing.set()
    await with_eve.until(reads("I may not write."))
    assert "not allowed" in own_stage.model.requests[1].texts("tool")[-1]

    await with_eve.says(eve, "tell me a story")
    await own_stage.asked(3)
    await chat.says(ann, f"/block {who}")
    await chat.until(reads("running answers: 1"))
    telling.set()
    await chat.says(ann, "/whoami")
    await chat.until(reads("Owner"))
    assert not any("Never said." in text for text in with_eve.screen)
