"""An answer is spoken on every platform, once, whatever happens to the process."""

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage
from tests.end_to_end.tables import stored
from tests.plugins.voice.audio_emulator import AudioEmulator
from tests.process import until

pytestmark = [pytest.mark.quick_clock, pytest.mark.timeout(120)]


@where(lambda facts: facts.name in {"telegram", "slack", "discord"})
async def test_an_answer_that_is_being_spoken_while_it_is_killed_is_spoken_after_the_start(own_stage: Stage) -> None:
    async with AudioEmulator() as audio:
        ann, chat = own_stage.private("Ann")
        own_stage.program.set("PARLEY_PLUGIN_VOICE_SPEECH", audio.base_url)
        own_stage.script.then(says("It is noon."))
        await own_stage.start()
        await chat.says(ann, "/voice on")
        await chat.until(lambda c: "spoken as well" in c.screen[-1])
        audio.faults.hold("speak")
        await chat.says(ann, "what time is it?")
        await audio.wait_for(lambda: len(audio.calls) == 1)

        await own_stage.program.kill()
        await own_stage.start()

        await chat.until(lambda c: any(message.document for message in c.bot_messages))
        assert [text for text in chat.screen if "It is noon." in text] == ["It is noon."]
        assert [bool(message.document) for message in chat.bot_messages].count(True) == 1
        states = "SELECT state, count(*) FROM spending WHERE model LIKE '%tts%' GROUP BY state ORDER BY state"
        await until(lambda: stored(own_stage.program.home, states) == [("estimate", 1), ("settled", 1)])
