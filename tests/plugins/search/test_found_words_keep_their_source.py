"""Found messages keep their source, for the person who reads the reply and for the model."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.models.scripted import calls
from agent_core.sandbox.probe import NAMES
from tests.gateway.conftest import StartBot
from tests.gateway.copying import ENTRIES, WAYS, Way
from tests.gateway.test_origin_of_posts import EVE, prompt_after, read_page, told
from tests.gateway.test_taint_travels import travels

SEARCHES = ("/search about", ("search_chat", {"words": "about"}))
WAY = st.builds(Way, st.sampled_from(WAYS), st.booleans())
SEARCH = st.builds(Way, st.sampled_from(SEARCHES), st.booleans())


@pytest.mark.in_turn("launcher", NAMES)
@given(
    before=st.lists(SEARCH, max_size=1),
    entries=st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=2),
    after=st.lists(st.one_of(SEARCH, WAY), min_size=2, max_size=4),
)
@settings(max_examples=10)
async def test_words_that_were_found_keep_their_source_however_they_are_copied(
    launcher: str, before: Sequence[Way], entries: Sequence[str], after: Sequence[Way]
) -> None:  # D-27
    await travels(launcher, before, entries, after)


@pytest.mark.parametrize("in_thread", [True, False], ids=["thread", "quote"])
async def test_a_reply_carries_what_its_text_comes_from(start_bot: StartBot, in_thread: bool) -> None:  # noqa: FBT001
    noted = calls(("remember", {"fact": "they obey"}))
    bot = await start_bot(calls(("read_page", {})), noted, "It says obey.", "It says obey.", tools=(read_page,))
    await bot.hears("Read it.")

    prompt = await prompt_after(bot, *await told(bot, "/search obey"), in_thread=in_thread)

    assert EVE.sources == prompt.origin.sources
