"""What is heard in a recording that is no voice message keeps its source, however it is copied."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.sandbox.probe import NAMES
from gateway.app.chosen_plugins import own_plugins
from gateway.plugins.voice.audio import AudioServer
from gateway.plugins.voice.plugin import Voice
from tests.gateway.copying import WAYS, Way
from tests.gateway.test_taint_travels import travels
from tests.plugins.voice.audio_emulator import KEY, AudioEmulator
from tests.plugins.voice.speaking import served

WAY = st.builds(Way, st.sampled_from(WAYS), st.booleans())


@pytest.mark.in_turn("launcher", NAMES)
@given(before=st.lists(WAY, max_size=1), after=st.lists(WAY, min_size=2, max_size=4))
@settings(max_examples=5)
async def test_words_of_a_recording_keep_their_source(
    launcher: str, before: Sequence[Way], after: Sequence[Way]
) -> None:  # D-27
    async with AudioEmulator() as audio:
        plugin = served(transcription=AudioServer(audio.base_url, "whisper-1", KEY, 0.0))
        others = [each for each in own_plugins() if each is not Voice]
        await travels(launcher, before, ["own recording"], after, [*others, plugin])
