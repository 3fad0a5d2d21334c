"""A command for many chosen rows is given for each of them, with the rights and the audit of each."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import ClientSession

from channels.base import ChatKey
from gateway.admin.chosen_rows import MOST_ROWS
from gateway.permissions.rules import NOT_YOUR_CHAT
from gateway.store.job import JobState
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_pages import audited
from tests.gateway.admin.test_schedules import BOB, NINE, state

ANN = ChatKey(platform="memory", account="here", chat="ann")


async def give(client: ClientSession, command: str, rows: Sequence[tuple[str, str]]) -> str:
    """Submit the form of a bar, and return the part of the page that answers."""
    fields = [("command", command), *(("row", f"{chat}\t{words}") for chat, words in rows)]
    async with client.post("/admin/each", data=fields) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.text()


async def planned(world: AdminWorld) -> None:
    """Let two people have a job each."""
    await world.bot.made.base.store.jobs.add(NINE)
    await world.bot.made.base.store.jobs.add(replace(NINE, id="xyz789", chat=ANN, person="ann"))


async def test_jobs_of_several_chats_are_paused_and_each_is_recorded(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        await planned(world)
        answer = await give(client, "/cron pause", [(str(BOB), "abc123"), (str(ANN), "xyz789")])
        assert answer.count("is paused") == 2
        assert [await state(world), await state(world, "xyz789")] == [JobState.PAUSED] * 2
        assert [each for each in await audited(world) if "/cron" in each] == ["web:local /cron"] * 2


async def test_what_is_refused_for_one_row_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        await planned(world)
        rows = [("telegram:1:2", "no1"), ("telegram:1:2", "no2"), ("nonsense", "no3"), (str(BOB), "abc123")]
        answer = await give(client, "/cron pause", rows)
        assert "2 × " in answer
        assert "not connected" in answer
        assert "is paused" in answer
        assert await state(world) is JobState.PAUSED
        assert "is paused" not in await give(client, "/cron pause", [(str(ANN), "x" * 30_000)])


async def test_the_rights_are_those_that_the_visitor_has_in_the_chat_of_each_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        await planned(world)
        refusal = world.bot.made.commands.table.refusal

        def refuses_bobs(chat: ChatKey, *given: object) -> str:
            return NOT_YOUR_CHAT if chat == BOB else refusal(chat, *given)  # type: ignore[arg-type]

        monkeypatch.setattr(world.bot.made.commands.table, "refusal", refuses_bobs)
        answer = await give(client, "/cron pause", [(str(BOB), "abc123"), (str(ANN), "xyz789")])
        assert answer.count("is paused") == 1
        assert [await state(world), await state(world, "xyz789")] == [JobState.ACTIVE, JobState.PAUSED]
        async with client.get("/admin/schedules") as page:
            text = await page.text()
        assert text.count('class="choice"') == 1, "what may not be done is not offered"


async def test_nothing_and_too_much_get_a_sentence(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        assert "Nothing is chosen" in await give(client, "/cron pause", [])
        assert "at most 200" in await give(client, "/cron pause", [(str(BOB), "abc123")] * (MOST_ROWS + 1))


async def test_one_button_brings_back_what_was_removed_together(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        await planned(world)
        answer = await give(client, "/cron rm", [(str(BOB), "abc123"), (str(ANN), "xyz789")])
        assert "Undo (2)" in answer
        assert answer.index("/cron restore xyz789") < answer.index("/cron restore abc123"), "the last first"
        answer = await give(client, "", [(str(ANN), "/cron restore xyz789"), (str(BOB), "/cron restore abc123")])
        assert answer.count("is back") == 2
