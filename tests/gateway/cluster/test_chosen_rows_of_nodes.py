"""Rows of the page are chosen together whose chats different nodes work on, and one button takes all of it back."""

from copy import copy
from dataclasses import replace
from pathlib import Path

from channels.memory import MemoryChannel
from gateway.store.job import JobState
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_chosen_rows import ANN, give
from tests.gateway.admin.test_pages import audited
from tests.gateway.admin.test_schedules import BOB, NINE
from tests.postgres import rows


def owners(url: str) -> dict[str, str]:
    """Return the node that works on each chat of the platform."""
    found = rows(url, "SELECT chat, node FROM chat_owners WHERE node IS NOT NULL AND chat LIKE 'memory:%'")
    return {str(chat): str(node) for chat, node in found}


async def test_jobs_of_chats_on_two_nodes_are_removed_together_and_one_button_on_the_other_page_brings_them_back(
    tmp_path: Path, url: str
) -> None:
    platform = MemoryChannel()
    async with (
        admin_world(tmp_path, "Hello Ann.", database=url, channel=copy(platform)) as first,
        admin_world(tmp_path, "Hello Bob.", database=url, channel=copy(platform)) as second,
        first.client() as here,
        second.client() as there,
    ):
        jobs = first.bot.made.base.store.jobs
        await first.bot.hears("hello")
        await second.bot.hears("hello", sender="bob")
        assert owners(url).keys() == {str(ANN), str(BOB)}
        assert len({*owners(url).values()}) == 2
        await jobs.add(NINE)
        await jobs.add(replace(NINE, id="xyz789", chat=ANN, person="ann"))

        async def states() -> list[JobState]:
            return [job.state for name in ("abc123", "xyz789") if (job := await jobs.find(name))]

        removed = await give(here, "/cron rm", [(str(BOB), "abc123"), (str(ANN), "xyz789")])
        assert "Undo (2)" in removed
        assert await states() == [JobState.REMOVED] * 2
        back = await give(there, "", [(str(ANN), "/cron restore xyz789"), (str(BOB), "/cron restore abc123")])
        assert back.count("is back") == 2
        assert await states() == [JobState.ACTIVE] * 2
        await second.bot.made.base.audit.close()
        assert [each for each in await audited(first) if "/cron" in each] == ["web:local /cron"] * 4
