"""Up to which time the history of a chat was read, and what a gap in it holds back."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.store.read_marks import NotedGap, ReadMark
from gateway.store.store import Store
from tests.gateway.test_store import CHAT, opened

OTHER = CHAT.model_copy(update={"chat": "other"})
HERE = CHAT.platform
LONG_AGO = 0.0


@pytest.fixture
async def store(tmp_path: Path, database: str | None) -> AsyncIterator[Store]:
    async with opened(tmp_path, database) as store:
        await store.read_marks.move(CHAT, 10.0, later=False)
        await store.read_marks.move(OTHER, 10.0, later=False)
        yield store


async def marks(store: Store) -> dict[str, float]:
    await store.read_marks.move(OTHER, 0.0, later=False)  # what was to be written later is written with it
    return {mark.chat.chat: mark.at for mark in await store.read_marks.newest(HERE, 0.0, 9)}


async def test_a_mark_does_not_pass_a_gap_before_that_is_read(store: Store) -> None:
    noted = await store.read_marks.open_gaps(HERE, {CHAT: 10.0}, LONG_AGO)
    assert noted == {CHAT: NotedGap(10.0, 1)}
    await store.read_marks.move(CHAT, 30.0, later=False)
    await store.read_marks.move(OTHER, 30.0, later=False)
    assert await marks(store) == {CHAT.chat: 10.0, "other": 30.0}

    assert await store.read_marks.close_gap(CHAT, 20.0, 1) == 0
    assert await marks(store) == {CHAT.chat: 20.0, "other": 30.0}
    await store.read_marks.move(CHAT, 30.0, later=False)
    assert await marks(store) == {CHAT.chat: 30.0, "other": 30.0}


async def test_a_gap_that_was_noted_again_while_it_was_read_stays(store: Store) -> None:
    assert await store.read_marks.open_gap(CHAT, 10.0) == 1
    assert await store.read_marks.open_gap(CHAT, 15.0) == 2

    assert await store.read_marks.close_gap(CHAT, 20.0, 1) == 2
    assert await store.read_marks.has_gap(CHAT)
    assert await store.read_marks.gaps(HERE) == {CHAT: NotedGap(10.0, 2)}
    assert await store.read_marks.close_gap(CHAT, 20.0, 2) == 0
    assert not await store.read_marks.has_gap(CHAT)
    assert await marks(store) == {CHAT.chat: 20.0, "other": 10.0}


async def test_gaps_that_are_too_old_to_be_read_end_with_the_next_look_and_others_are_among_those_to_be_read(
    store: Store,
) -> None:
    await store.read_marks.open_gap(CHAT, 10.0)
    assert await store.read_marks.open_gaps("elsewhere", {}, 11.0) == {}
    noted = await store.read_marks.open_gaps(HERE, {OTHER: 10.0}, LONG_AGO)
    assert {chat: gap.number for chat, gap in noted.items()} == {CHAT: 1, OTHER: 1}

    assert [*await store.read_marks.open_gaps(HERE, {OTHER: 10.0}, 11.0)] == [OTHER]
    for chat in (CHAT, OTHER):
        await store.read_marks.move(chat, 20.0, later=False)
    assert await marks(store) == {CHAT.chat: 20.0, "other": 10.0}


async def test_a_gap_that_was_read_takes_its_trouble_away(store: Store) -> None:
    assert await store.read_marks.note_trouble(CHAT, "no right")
    assert not await store.read_marks.note_trouble(CHAT, "no right")
    await store.read_marks.open_gap(CHAT, 10.0)
    await store.read_marks.move(CHAT, 20.0, later=False)
    assert ReadMark(CHAT, 10.0, "no right") in await store.read_marks.newest(HERE, 0.0, 9)

    assert await store.read_marks.close_gap(CHAT, None, 1) == 0

    assert ReadMark(CHAT, 10.0, "") in await store.read_marks.newest(HERE, 0.0, 9)
