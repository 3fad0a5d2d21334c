"""An editor goes on with what a person asks by a key of their chat, where approvals are asked, on each platform."""

import asyncio
import re

import pytest
from openai import AsyncOpenAI

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage

pytestmark = pytest.mark.timeout(120)


@where(lambda facts: facts.name in {"telegram", "slack", "discord"})
async def test_an_editor_asks_and_the_person_allows_it_in_the_chat(own_stage: Stage) -> None:
    stage, program = own_stage, own_stage.program
    ann, chat = stage.private("Ann")
    program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    program.set("PARLEY_WEB", "on")
    program.set("PARLEY_WEB_PORT", "0")
    await stage.start()
    await chat.says(ann, "/key add editor")
    await chat.until(lambda c: "parley-" in c.screen[-1])
    found = re.search(r"parley-[0-9a-f]{48}", chat.screen[-1])
    address = re.search(r"http://127\.0\.0\.1:\d+/v1", chat.screen[-1])
    assert found
    assert address
    look = ToolUse("web_fetch", {"url": "https://seeds.example/tomatoes"})
    stage.script.then(calls(look), says("Three euros a bag."))
    async with AsyncOpenAI(api_key=found[0], base_url=address[0], max_retries=0) as editor:
        asking = asyncio.create_task(
            editor.chat.completions.create(
                model="parley",
                messages=[
                    {"role": "system", "content": "You are in an editor. The file is garden.md."},
                    {"role": "user", "content": "What did we decide?"},
                    {"role": "assistant", "content": "Tomatoes."},
                    {"role": "user", "content": "What do their seeds cost at the shop?"},
                ],
            )
        )
        await chat.until(lambda c: any(m.button("Allow once") for m in c.bot_messages))
        assert "https://seeds.example/tomatoes" in chat.screen[-1]
        assert not asking.done()
        await chat.presses(ann, "Allow once")
        answer = await asking
    assert answer.choices[0].message.content == "Three euros a bag."
    await chat.until(lambda c: "Approved by Ann" in c.screen[-1])
    await chat.says(ann, "/key")
    await chat.until(lambda c: "editor" in c.screen[-1])
