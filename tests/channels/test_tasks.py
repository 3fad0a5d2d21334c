"""Tasks end with the object that they belong to."""

import asyncio

import pytest

from channels.tasks import BackgroundTasks, until_one_ends


async def test_background_tasks_are_cancelled_when_their_owner_closes() -> None:
    ended: list[str] = []

    async def work(name: str, until: asyncio.Event) -> None:
        try:
            await until.wait()
        finally:
            ended.append(name)

    tasks, done = BackgroundTasks(), asyncio.Event()
    done.set()
    tasks.start(work("short", done))
    tasks.start(work("endless", asyncio.Event()))
    await asyncio.sleep(0)
    assert ended == ["short"]

    await tasks.close()
    assert ended == ["short", "endless"]


async def test_the_error_of_one_ends_the_others() -> None:
    cancelled = asyncio.Event()

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def broken() -> None:
        await asyncio.sleep(0)
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        await until_one_ends(endless(), broken())

    assert cancelled.is_set()
