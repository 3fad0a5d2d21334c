"""The screen of storage: sizes, quotas and backups."""

from pathlib import Path

from aiohttp import ClientSession

from tests.gateway.admin.desk import admin_world


async def get(client: ClientSession) -> str:
    async with client.get("/admin/storage") as answer:
        assert answer.status == 200, await answer.text()
        return await answer.text()


async def test_sizes_are_shown_by_chat_and_person_with_the_share_of_their_quota(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        empty = await get(client)
        assert "No files are stored yet." in empty
        assert "There is no backup yet." in empty
        folder = world.bot.made.files.workspaces.folder(world.bot.channel.chat("ann"))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "big.bin").write_bytes(bytes(3 * 2**20))
        (tmp_path / "backups").mkdir(exist_ok=True)
        (tmp_path / "backups" / "parley-2026-11-23.zip").write_bytes(bytes(1024))
        text = await get(client)
        assert "memory:here:ann" in text
        assert "3.0 MB" in text
        assert "parley-2026-11-23.zip" in text


async def test_no_backup_is_promised_where_none_is_made(tmp_path: Path) -> None:
    async with admin_world(tmp_path, settings={"backups": 0}) as world, world.client() as client:
        text = await get(client)

    assert "No backups are made here" in text
    assert "each night" not in text
