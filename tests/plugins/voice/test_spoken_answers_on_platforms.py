"""An answer is spoken on every platform, once, whatever happens to the process."""

import pytest

from parley.testing.emulators.telegram import TelegramEmulator
from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.platforms.platform import Message
from tests.end_to_end.stage import Stage
from tests.end_to_end.tables import stored
from tests.plugins.voice.audio_emulator import AudioEmulator
from tests.process import until

pytestmark = [pytest.mark.quick_clock, pytest.mark.timeout(120)]


def is_spoken(message: Message) -> bool:
    return message.document is not None or message.shown == "[voice]"


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

        await chat.until(lambda c: any(map(is_spoken, c.bot_messages)))
        assert [text for text in chat.screen if "It is noon." in text] == ["It is noon."]
        assert [is_spoken(message) for message in chat.bot_messages].count(True) == 1
        states = "SELECT state, count(*) FROM spending WHERE model LIKE '%tts%' GROUP BY state ORDER BY state"
        await until(lambda: stored(own_stage.program.home, states) == [("estimate", 1), ("settled", 1)])


@only("telegram")
@pytest.mark.parametrize(("kinds", "asked"), [(("mp3", "opus"), ["opus", "opus"]), (("mp3",), ["opus", "mp3", "mp3"])])
async def test_on_telegram_an_answer_is_spoken_as_a_voice_message_whatever_the_server_has(
    own_stage: Stage, kinds: tuple[str, ...], asked: list[str]
) -> None:
    telegram = own_stage.net.emulator
    assert isinstance(telegram, TelegramEmulator)
    async with AudioEmulator() as audio:
        audio.speech = {kind: audio.speech[kind] for kind in kinds}
        ann = telegram.person("Ann", language="en")
        chat = telegram.private(ann)
        own_stage.program.set("PARLEY_PLUGIN_VOICE_SPEECH", audio.base_url)
        own_stage.script.then(says("It is noon."), says("Now it is one."))
        await own_stage.start()
        await chat.says(ann, "/voice on")
        await chat.until(lambda c: "spoken as well" in c.screen[-1])
        for count, words in enumerate(("what time is it?", "and now?"), 1):
            await chat.says(ann, words)
            await chat.until(lambda c, count=count: c.screen.count("[voice]") == count)

        voices = [message.voice.content for message in chat.bot_messages if message.voice]
        start = audio.speech[kinds[-1]]
        assert voices == [start + b"It is noon.", start + b"Now it is one."]
        assert [call.params["response_format"] for call in audio.calls] == asked
