"""The screen of skills: installed from an address or a file, looked at, locked, loaded, removed."""

import io
import re
from pathlib import Path

from aiohttp import ClientSession, FormData

from agent_core.tools.web.fetch import Fetcher
from gateway.admin.action_form import LONGEST_LINE
from gateway.chat.conversation import ON, SKILL
from gateway.store.chat_settings import EVERYWHERE
from tests.agent_core.skills.packing import FILES, SKILL_MD, zipped
from tests.agent_core.web.site import Site, sends
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_pages import act
from tests.gateway.test_skill_commands import write_skill
from tests.gateway.test_skill_install import NEW, shared

ATTACK = "<img src=x onerror=alert(1)>"


async def send_file(client: ClientSession, command: str, content: bytes, name: str = "rates.zip") -> str:
    """Submit a form with a file."""
    form = FormData({"command": command, "chat": ""})
    form.add_field("file", io.BytesIO(content), filename=name, content_type="application/zip")
    async with client.post("/admin/act", data=form) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.text()


async def get(client: ClientSession, path: str) -> str:
    async with client.get(f"/admin/{path}") as answer:
        assert answer.status == 200, await answer.text()
        return await answer.text()


def button(answer: str, beginning: str) -> str:
    found = re.search(rf'value="({beginning}[^"]*)"', answer)
    assert found, answer
    return found[1]


async def test_a_skill_is_installed_from_a_file_only_after_its_content_was_approved(tmp_path: Path) -> None:
    async with admin_world(tmp_path, skills=shared(tmp_path)) as world, world.client() as client:
        offer = await send_file(client, "/skill install", zipped())
        assert "scripts/rate.py" in offer
        assert "The scan found nothing." in offer
        assert "rates" not in await get(client, "skills")
        assert list((tmp_path / "uploads").iterdir()) == [], "the archive is not kept"

        await act(client, button(offer, "/skill approve"))
        assert 'href="/admin/skills/rates"' in await get(client, "skills")
        detail = await get(client, "skills/rates")
        assert "approved by web:local" in detail
        assert "RATES" in detail


async def test_an_update_shows_what_changes_and_a_lock_prevents_it(tmp_path: Path) -> None:
    async with (
        Site({"/rates.zip": sends(zipped(), "application/zip")}) as site,
        admin_world(tmp_path, skills=shared(tmp_path), fetcher=Fetcher(site.may_reach)) as world,
        world.client() as client,
    ):
        offer = await act(client, "/skill install", f"{site.url}/rates.zip")
        await act(client, button(offer, "/skill approve"))
        assert 'value="/skill update rates"' in await get(client, "skills/rates")
        update = await send_file(client, "/skill update rates", zipped(NEW))
        assert "+NEW RATES" in update
        await act(client, button(update, "/skill approve"))
        assert "NEW RATES" in await get(client, "skills/rates")

        await act(client, "/skill lock rates")
        locked = await get(client, "skills/rates")
        assert 'value="/skill unlock rates"' in locked
        assert 'value="/skill remove rates"' not in locked
        assert "locked" in await send_file(client, "/skill update rates", zipped(FILES))
        await act(client, "/skill unlock rates")
        await act(client, "/skill remove rates")
        async with client.get("/admin/skills/rates") as gone:
            assert gone.status == 404


async def test_a_skill_is_loaded_for_a_level_and_shown_there(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hello!", skills=shared(tmp_path)) as world, world.client() as client:
        await world.bot.hears("hi")
        chat, settings = world.bot.channel.chat("ann"), world.bot.made.base.store.chat_settings
        await act(client, "/skill load chart everywhere")
        assert await settings.at(EVERYWHERE, f"{SKILL}chart")
        assert "all chats" in await get(client, "skills")
        await act(client, "/skill load flights", "channel", chat=str(chat))
        text = await get(client, "skills/flights")
        assert f"channel {chat}" in text
        assert await settings.get(chat, f"{SKILL}flights") == ON
        unload = button(text, "/skill unload")
        await act(client, unload, chat=str(chat))
        assert await settings.get(chat, f"{SKILL}flights") is None
        await act(client, "/skill load flights", "", chat=str(chat))
        assert f'value="{chat}"' in await get(client, "skills/flights")


async def test_it_is_said_why_a_skill_is_not_available_and_which_files_are_broken(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "needy", "requires:", "  bins: [no-such-program]")
    (tmp_path / "skills" / "broken").mkdir()
    (tmp_path / "skills" / "broken" / "SKILL.md").write_text("no header")
    async with admin_world(tmp_path, skills=shared(tmp_path)) as world, world.client() as client:
        text = await get(client, "skills")
        assert "needs no-such-program" in text
        assert "skills/broken/SKILL.md" in text


async def test_without_skills_it_says_what_one_is(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        assert "There are no skills yet." in await get(client, "skills")


async def test_words_of_attackers_are_shown_as_they_are_written(tmp_path: Path) -> None:
    files = {"rates/SKILL.md": SKILL_MD.replace("Looks up", ATTACK).replace("RATES", ATTACK), "rates/<b>x.md": ATTACK}
    async with admin_world(tmp_path, skills=shared(tmp_path)) as world, world.client() as client:
        offer = await send_file(client, "/skill install", zipped(files))
        assert "<img" not in offer
        await act(client, button(offer, "/skill approve"))
        for path in ("skills", "skills/rates"):
            text = await get(client, path)
            assert "&lt;img src=x" in text
            assert "<img src=x" not in text


async def test_bad_forms_get_a_sentence_and_leave_no_files(tmp_path: Path) -> None:
    async with admin_world(tmp_path, skills=shared(tmp_path)) as world, world.client() as client:
        assert "no whole zip" in await send_file(client, "/skill install", b"nonsense")
        assert "too large" in await send_file(client, "/skill install", bytes(11 * 2**20))
        assert "too long" in await send_file(client, "x" * 5 * LONGEST_LINE, b"")
        two = FormData({"command": "/skill install"})
        for name in ("a.zip", "b.zip"):
            two.add_field("file", zipped(), filename=name)
        async with client.post("/admin/act", data=two) as answer:
            assert "one file only" in await answer.text()
        many = FormData([(f"field{each}", "x") for each in range(60)])
        many.add_field("file", b"x", filename="x.zip")
        async with client.post("/admin/act", data=many) as answer:
            assert "no such action" in await answer.text()
        assert [each for each in (tmp_path / "uploads").rglob("*") if each.is_file()] == []
