"""A skill from an attached archive, on each platform: shown, approved, used, refused where it is bad or was changed."""

import asyncio
import zipfile
from collections.abc import Callable, Mapping

import pytest

from agent_core.skills.installed import FOLDER
from tests.agent_core.skills.packing import FILES, SKILL_MD, zipped
from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.emulated import STRANGERS
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import Stage, ends_with, newest

pytestmark = [pytest.mark.quick_clock, pytest.mark.timeout(120), only("telegram", "slack", "discord")]

BAD: Mapping[str, tuple[Callable[[], bytes], str]] = {
    "link": (lambda: zipped(link="rates/x"), "is a link. Put the file itself into the archive."),
    "bomb": (lambda: zipped({**FILES, "rates/zeros": b"\0" * 5_000_000}), "unpacks to far more than its size"),
    "many": (
        lambda: zipped({**FILES, **{f"rates/{n}": b"" for n in range(6_000)}}, compression=zipfile.ZIP_STORED),
        "too many files",
    ),
    "name": (
        lambda: zipped({"x/SKILL.md": SKILL_MD.replace("rates", "chart")}),
        "is the name of a skill that comes with Parley",
    ),
    "none": (lambda: b"GIF89a", "is no whole zip or tar.gz file"),
}


async def test_an_attached_archive_is_installed_and_a_bad_or_changed_one_never_runs(own_stage: Stage) -> None:
    stage = own_stage
    platform = stage.platform.facts.name
    stage.program.set("PARLEY_OWNERS", f"{platform}:{stage.net.id_of(STRANGERS + 1)}")
    await stage.start()
    ann, chat = stage.private("Ann")

    async def attaches(content: bytes, words: str) -> None:
        sign = stage.platform.facts.command_sign
        await chat.says(ann, f"{sign}skill install", document=("rates.zip", content, "application/zip"))
        await chat.until(lambda c: words in c.screen[-1])

    for make, words in BAD.values():
        await attaches(make(), words)
        assert not [each for row in newest(chat).buttons for each in row]
    await chat.says(ann, "/skill install http://127.0.0.1:1/rates.zip")
    await chat.until(lambda c: "could not be fetched" in c.screen[-1])

    await attaches(zipped(), "rates 1.2 from rates.zip is not installed yet.")
    await chat.presses(ann, "Install")
    await chat.until(lambda c: any(text.startswith("rates is installed (content ") for text in c.screen))
    await chat.says(ann, "/skill load rates")
    await chat.until(lambda c: "rates is loaded" in c.screen[-1])
    assert await is_instructed(stage, ann, chat, "hello")

    (script,) = (stage.program.home / FOLDER).rglob("rate.py")
    script.write_text("import os\n")

    refused = "its files were changed after a person approved them"
    while refused not in chat.screen[-1]:  # the files are looked at every two seconds
        before = len(chat.screen)
        await chat.says(ann, "/skills")
        await chat.until(lambda c, before=before: len(c.screen) > before and "chart" in c.screen[-1])  # type: ignore[misc]
        await asyncio.sleep(0.2)
    assert not await is_instructed(stage, ann, chat, "and now?")


async def is_instructed(stage: Stage, person: Person, chat: Chat, words: str) -> bool:
    """Say something, and return True if the model was given the skill with it."""
    stage.script.then(says(f"You said: {words}"))
    await chat.says(person, words)
    await chat.until(ends_with(f"You said: {words}"))
    return "\nRATES" in stage.model.requests[-1].system
