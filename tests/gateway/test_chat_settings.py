"""Settings that people make in chats: the narrowest level decides."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.base import ChatKey
from gateway.store.chat_settings import EVERYWHERE, Level, Place
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.examples import examples

CLOCK = FakeClock()
THREAD = ChatKey(platform="slack", account="T1", chat="C1", thread="17.5")
CHANNEL = THREAD.model_copy(update={"thread": None})
OTHER_THREAD = THREAD.model_copy(update={"thread": "18.0"})
OTHER_CHANNEL = CHANNEL.model_copy(update={"chat": "C2"})
OTHER_WORKSPACE = CHANNEL.model_copy(update={"account": "T2"})
CHATS = (THREAD, CHANNEL, OTHER_THREAD, OTHER_CHANNEL, OTHER_WORKSPACE)


@pytest.fixture
async def store(tmp_path: Path, database: str | None) -> AsyncIterator[Store]:
    async with Store.open(tmp_path, CLOCK, numbered(), url=database) as store:
        yield store


def place(store: Store, chat: ChatKey, level: Level) -> Place:
    return next(each for each in store.chat_settings.places(chat) if each.level is level)


def test_a_thread_belongs_to_four_places_and_a_channel_to_three(tmp_path: Path) -> None:
    async def levels() -> list[list[Level]]:
        async with Store.open(tmp_path, FakeClock(), numbered()) as store:
            return [[each.level for each in store.chat_settings.places(chat)] for chat in (THREAD, CHANNEL)]

    assert asyncio.run(levels()) == [list(Level), list(Level)[1:]]


async def test_what_nobody_set_is_none(store: Store) -> None:
    assert await store.chat_settings.get(THREAD, "model") is None


async def test_each_level_holds_where_no_narrower_one_has_a_value(store: Store) -> None:
    kept = store.chat_settings
    for level in Level:
        await kept.set(place(store, THREAD, level), "model", level.value, "ann")

    assert [await kept.get(chat, "model") for chat in CHATS] == [
        "thread",
        "channel",
        "channel",
        "workspace",
        "installation",
    ]


async def test_a_removed_value_gives_way_to_the_next_level(store: Store) -> None:
    kept = store.chat_settings
    await kept.set(EVERYWHERE, "model", "wide", "ann")
    await kept.set(place(store, THREAD, Level.THREAD), "model", "narrow", "ann")
    await kept.set(place(store, THREAD, Level.THREAD), "model", None, "ann")

    assert await kept.get(THREAD, "model") == "wide"


async def test_it_is_known_who_set_it_where_and_when(store: Store) -> None:
    here = place(store, THREAD, Level.CHANNEL)
    await store.chat_settings.set(here, "think", "high", "ann")

    found = await store.chat_settings.find(THREAD, "think")

    assert found is not None
    assert (found.value, found.place, found.by, found.at) == ("high", here, "ann", CLOCK.time())


async def test_settings_survive_a_restart(tmp_path: Path) -> None:
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        await store.chat_settings.set(place(store, THREAD, Level.CHANNEL), "model", "x", "ann")
        await store.chat_settings.set(EVERYWHERE, "think", "low", "bob")
        await store.chat_settings.set(EVERYWHERE, "think", None, "bob")
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        assert await store.chat_settings.get(THREAD, "model") == "x"
        assert await store.chat_settings.get(THREAD, "think") is None


async def test_of_two_who_set_it_at_once_the_later_wins_in_memory_and_on_disk(tmp_path: Path) -> None:
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        kept = store.chat_settings
        await asyncio.gather(*(kept.set(EVERYWHERE, "model", str(number), "ann") for number in range(9)))
        seen = await kept.get(THREAD, "model")
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        assert await store.chat_settings.get(THREAD, "model") == seen


changes = st.lists(
    st.tuples(st.sampled_from(CHATS), st.integers(0, 3), st.none() | st.sampled_from("abc")), max_size=20
)


@given(changes)
@settings(deadline=None, max_examples=examples(30))
def test_the_cache_never_differs_from_the_table(done: list[tuple[ChatKey, int, str | None]]) -> None:
    async def check() -> None:
        with TemporaryDirectory() as folder:
            async with Store.open(Path(folder), FakeClock(), numbered()) as store:
                for chat, level, value in done:
                    places = store.chat_settings.places(chat)
                    await store.chat_settings.set(places[level % len(places)], "model", value, "ann")
                known = [await store.chat_settings.get(chat, "model") for chat in CHATS]
            async with Store.open(Path(folder), FakeClock(), numbered()) as store:
                assert [await store.chat_settings.get(chat, "model") for chat in CHATS] == known

    asyncio.run(check())
