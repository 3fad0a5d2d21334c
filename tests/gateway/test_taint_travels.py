"""Untrusted input keeps its source however it is copied; whatever comes from clean text alone stays clean.

The model copies the untrusted text into everything it writes as soon as it has read it anywhere.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.sandbox.probe import NAMES
from gateway.plugin import Plugin
from tests.gateway.copying import ENTRIES, WAYS, Scene, Way, opened
from tests.gateway.copyist import EVIL, MARK, WEAK
from tests.gateway.sourced import held


async def check(scene: Scene) -> None:
    for words, origin in await held(scene.bot, scene.channel.chat()):
        if MARK in words:
            assert {*origin.sources} & {*scene.entered}, (words, origin)
        if WEAK in words:
            assert origin.is_data, words
        if not scene.entered:
            assert not origin.is_tainted, words
    for words, origin in await held(scene.bot, scene.channel.chat(group="team")):
        assert (MARK in words, WEAK in words, origin.is_tainted) == (False, False, False), words
    assert [path for path in map(str, (each.rel_url for each in scene.site.requests)) if EVIL in path] == []


async def travels(
    launcher: str,
    before: Sequence[Way],
    entries: Sequence[str],
    after: Sequence[Way],
    plugins: Sequence[type[Plugin]] | None = None,
) -> None:
    """Have untrusted text enter between ways of copying, and check all that is held after each of them."""
    with TemporaryDirectory() as folder:
        async with opened(Path(folder) / "home", launcher, server="server" in entries, plugins=plugins) as scene:
            for way in before:
                for group in (None, "team"):
                    await scene.goes(way, group)
            await check(scene)
            for entry in entries:
                await scene.enters(entry)
            await check(scene)
            for way in after:
                for group in (None, "team"):
                    await scene.goes(way, group)
                await check(scene)


WAY = st.builds(Way, st.sampled_from(WAYS), st.booleans())


@pytest.mark.in_turn("launcher", NAMES)
@given(
    before=st.lists(WAY, max_size=2),
    entries=st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=2),
    after=st.lists(WAY, min_size=2, max_size=6),
)
@settings(max_examples=20)
async def test_words_of_strangers_keep_their_source_and_clean_ones_stay_clean(
    launcher: str, before: Sequence[Way], entries: Sequence[str], after: Sequence[Way]
) -> None:  # D-27
    await travels(launcher, before, entries, after)
