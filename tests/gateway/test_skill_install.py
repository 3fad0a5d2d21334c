"""/skill install, update, remove and lock: approved by content, for everyone, and safe against being killed."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.models.scripted import calls
from agent_core.skills.installed import FOLDER, InstalledSkills
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from agent_core.tools.web.fetch import Fetcher
from channels.base import ButtonPressed
from channels.memory import user
from gateway.commands.skill_archives import archive_address
from tests.agent_core.skills.packing import FILES, SKILL_MD, tarred, zipped
from tests.agent_core.web.site import Site, sends
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_skill_commands import buttons, prompt, write_skill

NEW = {**FILES, "rates/SKILL.md": SKILL_MD.replace("RATES", "NEW RATES\nand more").replace("1.2", "1.3")}


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A web site with an archive."""
    async with Site({"/rates.zip": sends(zipped(), "application/zip")}) as site:
        yield site


def shared(home: Path) -> SkillLibrary:
    """The library over a home, with one skill of the owner and one that is shipped."""
    write_skill(home / "skills", "chart")
    write_skill(home / "shipped", "flights")
    roots = [(home / "skills", Origin.OWNER), (home / "shipped", Origin.SHIPPED)]
    return SkillLibrary(roots, environ={}, installed=InstalledSkills(home / FOLDER))


async def started(start_bot: StartBot, home: Path, site: Site, *turns: object, **how: object) -> Bot:
    return await start_bot(*turns, skills=shared(home), fetcher=Fetcher(site.may_reach), **how)


async def installed(bot: Bot, address: str) -> None:
    await bot.hears(f"/skill install {address}")
    await bot.channel.presses("Install")
    await bot.app.settled()


async def test_an_archive_is_shown_approved_and_used(start_bot: StartBot, tmp_path: Path, site: Site) -> None:
    bot = await started(start_bot, tmp_path, site, "Hi.")

    await bot.hears(f"/skill install {site.url}/rates.zip")
    [offer] = bot.screen
    assert offer.startswith("**rates** 1.2 from 127.0.0.1 is not installed yet.\n\n> `Looks up exchange rates.`")
    assert "**Asks for:** nothing" in offer
    assert f"- `SKILL.md` ({len(SKILL_MD)} B)\n- `scripts/rate.py` (12 B)" in offer
    assert "The scan found nothing." in offer
    assert "only these files are approved" in offer
    await bot.hears("/skills rates")
    assert bot.screen[-1] == "No skill is about rates."

    await bot.channel.presses("Install")
    await bot.app.settled()
    assert bot.screen[0].startswith("**rates** is installed (content `")
    await bot.hears("/skill load rates")
    await bot.hears("hello")
    assert "RATES" in prompt(bot)


async def test_what_a_scan_finds_and_the_header_asks_for_is_shown_without_markup(
    start_bot: StartBot, tmp_path: Path, site: Site
) -> None:
    head = "---\nname: rates\ndescription: '[click](http://x) <@1>`'\nrequires: {bins: [git], env: [BANK_KEY]}\n"
    script = "import requests\nrequests.get('https://evil.example')\n"
    evil = {"rates/SKILL.md": f"{head}always: true\n---\nDo\u200bit.", "rates/scripts/a.py": script}
    site.pages["/evil.zip"] = sends(zipped(evil))
    bot = await started(start_bot, tmp_path, site)

    await bot.hears(f"/skill install {site.url}/evil.zip")

    [offer] = bot.screen
    assert "> `[click](http://x) ⟨U+003C⟩@1>'`" in offer
    assert "**Asks for:** programs `git`; settings `BANK_KEY`; to be loaded in every chat" in offer
    assert "`scripts/a.py` uses the network: `requests`, `https://evil.example`" in offer
    assert "`SKILL.md`: lines with hidden characters or control tokens: `1`" in offer


async def test_an_attached_archive_is_installed(start_bot: StartBot, tmp_path: Path, site: Site) -> None:
    bot = await started(start_bot, tmp_path, site)

    await bot.hears("/skill install", files={"rates.tar.gz": tarred()})
    assert "**rates** 1.2 from rates.tar.gz" in bot.screen[-1]
    await bot.channel.presses("Install")
    await bot.app.settled()

    await bot.hears("/skill update rates", files={"new.zip": zipped(NEW)})
    assert "A new content of **rates** from new.zip" in bot.screen[-1]
    await bot.hears("/skill update rates")
    assert bot.screen[-1].startswith("**rates** was installed from a file. Attach the new one")


async def test_an_archive_in_the_chat_s_files_is_installed(start_bot: StartBot, tmp_path: Path, site: Site) -> None:
    bot = await started(start_bot, tmp_path, site, "Thanks.")
    await bot.hears("here you are", files={"rates.zip": zipped()})

    await bot.hears("/skill install rates.zip")
    assert "**rates** 1.2 from rates.zip is not installed yet." in bot.screen[-1]

    await bot.hears("/skill install ../other.zip")
    assert bot.screen[-1].startswith("There is no file ../other.zip in this chat.")


async def test_an_update_shows_the_diff_and_asks_again(start_bot: StartBot, tmp_path: Path, site: Site) -> None:
    bot = await started(start_bot, tmp_path, site, "One.", "Two.", "Three.")
    await installed(bot, f"{site.url}/rates.zip")
    await bot.hears("/skill load rates")
    await bot.hears(f"/skill update rates {site.url}/rates.zip")
    assert bot.screen[-1] == "**rates** is the same there. Nothing to update."

    site.pages["/rates.zip"] = sends(zipped(NEW))
    await bot.hears("/skill update rates")
    shown = bot.screen[-1]
    assert "- `SKILL.md`: +3 −2 lines" in shown
    assert "-RATES\n+NEW RATES\n+and more" in shown
    await bot.hears("hello")
    assert "NEW RATES" not in prompt(bot)

    await bot.channel.presses("Update")
    await bot.app.settled()
    await bot.hears("/skills")
    await bot.hears("hello")
    assert "NEW RATES" in prompt(bot)


async def test_a_long_diff_is_sent_whole_as_a_file(start_bot: StartBot, tmp_path: Path, site: Site) -> None:
    bot = await started(start_bot, tmp_path, site)
    await installed(bot, f"{site.url}/rates.zip")
    long = SKILL_MD + "\n".join(f"line {number}" for number in range(500))
    site.pages["/rates.zip"] = sends(zipped({**FILES, "rates/SKILL.md": long}))

    await bot.hears("/skill update rates")

    [file] = bot.channel.posts[-1][1].attachments
    assert "The whole diff is in the file." in bot.screen[-1]
    assert "+line 499" in await asyncio.to_thread(Path(file.path).read_text, "utf-8")


async def test_a_changed_skill_never_runs_under_an_old_approval(
    start_bot: StartBot, tmp_path: Path, site: Site
) -> None:
    bot = await started(start_bot, tmp_path, site, "One.", "Two.")
    await installed(bot, f"{site.url}/rates.zip")
    await bot.hears("/skill load rates")
    [script] = (tmp_path / FOLDER).rglob("rate.py")
    chat_skills = await bot.made.chats.sessions.of(bot.channel.chat()).conversation.skills()
    assert chat_skills.opened("rates").name == "rates"

    script.write_text("import os\n")

    with pytest.raises(Exception, match="rates"):
        chat_skills.opened("rates")
    await bot.hears("hello")
    assert "RATES" not in prompt(bot)
    await bot.hears("/skills rates")
    assert "its files were changed after a person approved them" not in bot.screen[-1]  # only owners, in the whole list
    await bot.hears("/skills")
    assert "its files were changed after a person approved them; install it again" in bot.screen[-1]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("chart", "**chart** is the name of a skill in the owner's own folder"),
        ("flights", "**flights** is the name of a skill that comes with Parley"),
        ("rates", "A skill named **rates** is installed already."),
    ],
)
async def test_another_skill_s_name_is_refused_with_the_reason(
    start_bot: StartBot, tmp_path: Path, site: Site, name: str, words: str
) -> None:
    bot = await started(start_bot, tmp_path, site)
    await installed(bot, f"{site.url}/rates.zip")
    site.pages["/other.zip"] = sends(zipped({"x/SKILL.md": SKILL_MD.replace("rates", name)}))

    await bot.hears(f"/skill install {site.url}/other.zip")

    assert bot.screen[-1].startswith(words)
    assert buttons(bot) == []


async def test_an_update_by_another_skill_is_refused(start_bot: StartBot, tmp_path: Path, site: Site) -> None:
    bot = await started(start_bot, tmp_path, site)
    await installed(bot, f"{site.url}/rates.zip")
    site.pages["/rates.zip"] = sends(zipped({"x/SKILL.md": SKILL_MD.replace("rates", "other")}))

    await bot.hears("/skill update rates")

    assert bot.screen[-1].startswith("There is no such skill") or "holds the skill **other**" in bot.screen[-1]


async def test_only_owners_install_and_approve(start_bot: StartBot, tmp_path: Path, site: Site) -> None:
    bot = await started(start_bot, tmp_path, site)

    for words in (
        "install https://example.com/x.zip",
        "update rates",
        "remove rates",
        "lock chart",
        "approve 00",
        "unlock x",
    ):
        await bot.hears(f"/skill {words}", sender="bob")
        assert bot.screen[-1] == "Only owners and admins can install and change skills."
    await bot.hears(f"/skill install {site.url}/rates.zip", group="team")
    await bot.channel.presses("Install", sender="bob")
    await bot.app.settled()
    assert bot.screen[-1] == "Only owners and admins can install and change skills."
    assert shared(tmp_path).find("rates") is None


async def test_two_proposals_for_one_name_are_not_both_approved(
    start_bot: StartBot, tmp_path: Path, site: Site
) -> None:
    site.pages["/new.zip"] = sends(zipped(NEW))
    bot = await started(start_bot, tmp_path, site)
    await bot.hears(f"/skill install {site.url}/rates.zip")
    await bot.hears(f"/skill install {site.url}/new.zip")

    first, second = (row[0].action for _, message in bot.channel.posts for row in message.buttons)
    await bot.channel.presses(first)
    await bot.app.settled()
    await bot.channel.presses(second)
    await bot.app.settled()
    assert bot.screen[0].startswith("**rates** is installed")
    assert bot.screen[1].startswith("A skill named **rates** is installed already.")


async def test_an_approval_survives_a_restart_and_is_given_once(
    start_bot: StartBot, tmp_path: Path, site: Site
) -> None:
    bot = await started(start_bot, tmp_path, site)
    await bot.hears(f"/skill install {site.url}/rates.zip")
    await bot.restart()
    posted, message = bot.channel.posts[0]
    press = ButtonPressed(
        event_id="a-press",
        chat=posted.chat,
        sender=user("ann"),
        at=bot.clock.time(),
        message_id=posted.message_id,
        action=message.buttons[0][0].action,
    )

    await bot.channel.deliver(press)
    await bot.channel.deliver(press)
    await bot.app.settled()
    await bot.channel.deliver(press.model_copy(update={"event_id": "repeated-after-a-kill"}))
    await bot.app.settled()

    assert bot.screen[0].startswith("**rates** is installed")
    assert shared(tmp_path).find("rates") is not None


async def test_files_of_a_proposal_that_changed_are_not_approved(
    start_bot: StartBot, tmp_path: Path, site: Site
) -> None:
    bot = await started(start_bot, tmp_path, site)
    await bot.hears(f"/skill install {site.url}/rates.zip")
    [script] = (tmp_path / FOLDER).rglob("rate.py")
    script.write_text("import os\n")

    await bot.channel.presses("Install")
    await bot.app.settled()

    assert bot.screen[-1].startswith("This can no longer be approved")


async def test_a_removed_skill_is_unloaded_everywhere_and_its_files_are_gone(
    start_bot: StartBot, tmp_path: Path, site: Site
) -> None:
    bot = await started(start_bot, tmp_path, site, "One.", "Two.")
    await installed(bot, f"{site.url}/rates.zip")
    await bot.hears("/skill load rates")
    await bot.hears("hello")
    assert "RATES" in prompt(bot)

    await bot.hears("/skill remove rates")
    await bot.hears("hello")

    assert "RATES" not in prompt(bot)
    assert list((tmp_path / FOLDER).rglob("SKILL.md")) == []
    await bot.hears("/skill remove chart")
    assert bot.screen[-1].startswith("No skill named `chart` was installed")


async def test_a_lock_stops_updates_and_a_change_stops_a_locked_skill(
    start_bot: StartBot, tmp_path: Path, site: Site
) -> None:
    bot = await started(start_bot, tmp_path, site)
    await installed(bot, f"{site.url}/rates.zip")

    await bot.hears("/skill lock rates")
    await bot.hears("/skill update rates")
    assert bot.screen[-1] == "**rates** is locked. `/skill unlock rates` first."
    await bot.hears("/skill unlock rates")
    assert bot.screen[-1] == "**rates** is no longer locked."
    await bot.hears("/skill lock flights")
    assert bot.screen[-1].startswith("**flights** comes with Parley")

    await bot.hears("/skill lock chart")
    assert bot.screen[-1].startswith("**chart** is locked to its files as they are now")
    library = bot.made.agents.parts.skills
    assert library.is_locked(library.get("chart"))
    write_skill(tmp_path / "skills", "chart", body="CHANGED")
    await bot.hears("/skill load chart")
    assert bot.screen[-1].startswith("There is no skill chart here.")
    await bot.hears("/skill unlock chart")
    await bot.hears("/skill load chart")
    assert bot.screen[-1].startswith("**chart** is loaded")


@pytest.mark.parametrize("done", ["nothing", "half", "unpacked"])
async def test_a_kill_in_between_leaves_no_skill_or_the_whole_one(
    start_bot: StartBot, tmp_path: Path, site: Site, done: str
) -> None:
    root = tmp_path / FOLDER
    if done != "nothing":  # what a killed process leaves
        left = root / (".arriving-0123456789abcdef" if done == "half" else "f" * 64)
        (left / "rates").mkdir(parents=True)
        (left / "rates" / "SKILL.md").write_text(SKILL_MD)
        (root / ".arriving-approved.json").write_text('{"approved": {"rates"')
    bot = await started(start_bot, tmp_path, site)
    await bot.hears("/skill load rates")
    assert bot.screen[-1].startswith("There is no skill rates here.")

    await installed(bot, f"{site.url}/rates.zip")

    assert bot.screen[-1].startswith("**rates** is installed")
    assert len(list(root.rglob("SKILL.md"))) == 1
    shutil.rmtree(root)
    await bot.hears("/skill load rates")
    assert bot.screen[-1].startswith("There is no skill rates here.")


async def test_addresses_that_lead_inside_or_to_no_archive_are_refused(
    start_bot: StartBot, tmp_path: Path, site: Site
) -> None:
    site.pages["/page"] = "<p>hi</p>"
    bot = await started(start_bot, tmp_path, site)

    await bot.hears("/skill install http://169.254.169.254/x.zip")
    assert "leads to a private or special address" in bot.screen[-1]
    await bot.hears(f"/skill install {site.url}/page")
    assert bot.screen[-1] == ("What 127.0.0.1 sent is no whole zip or tar.gz file. Check the address or the file.")
    await bot.hears(f"/skill install {site.url}/none.zip")
    assert "answers 404" in bot.screen[-1]
    await bot.hears("/skill install")
    assert bot.screen[-1].startswith("Send `/skill install ADDRESS`")
    await bot.hears("/skill install https://name:password@example.com/x.zip")
    assert "password@" not in bot.screen[-1]


async def test_a_model_is_offered_an_installed_skill(start_bot: StartBot, tmp_path: Path, site: Site) -> None:
    bot = await started(start_bot, tmp_path, site, calls(("load_skill", {"name": "rates"})), "Loaded.")
    await installed(bot, f"{site.url}/rates.zip")

    await bot.hears("what is the rate?")

    assert "**rates**: Looks up exchange rates." in bot.llm.requests[0].system
    assert "RATES" in prompt(bot)


@pytest.mark.parametrize(
    ("address", "archive", "folder"),
    [
        ("https://github.com/a/b", "https://codeload.github.com/a/b/zip/HEAD", ""),
        ("https://github.com/a/b.git", "https://codeload.github.com/a/b/zip/HEAD", ""),
        ("https://github.com/a/b/tree/main/skills/x", "https://codeload.github.com/a/b/zip/main", "skills/x"),
        ("https://github.com/a/b/blob/v1/x/SKILL.md", "https://codeload.github.com/a/b/zip/v1", "x"),
        ("https://github.com/a/b/archive/main.zip", "https://github.com/a/b/archive/main.zip", ""),
        ("https://example.com/x.zip?key=1", "https://example.com/x.zip?key=1", ""),
    ],
)
def test_a_repository_on_github_is_asked_for_its_archive(address: str, archive: str, folder: str) -> None:
    assert archive_address(address) == (archive, folder)
