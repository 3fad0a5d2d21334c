"""Messages that only Telegram has: what cannot be read is said in one line, and links behind words are read."""

from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_text import Entity
from parley.testing.emulators.telegram_updates import Json
from tests.emulators.model_script import Answer, ModelRequest, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, shows

pytestmark = only("telegram")

STORY: Json = {"story": {"chat": {"id": 5, "type": "private", "first_name": "Eve"}, "id": 9}}


async def test_a_story_is_answered_with_one_line(own_stage: Stage, own_telegram: TelegramEmulator) -> None:
    await own_stage.start()
    ann = own_telegram.person("Ann", language="en")
    chat = own_telegram.private(ann)

    await chat.shows(ann, STORY)
    await chat.until(lambda c: c.screen != [])

    assert chat.screen == ["I cannot read stories. Send me the text or the picture instead."]


async def test_in_a_group_a_story_is_no_reason_to_speak(own_stage: Stage, own_telegram: TelegramEmulator) -> None:
    own_stage.script.then(says("Hello."))
    await own_stage.start()
    ann = own_telegram.person("Ann", language="en")
    team = own_telegram.group("Team", [ann])

    await team.shows(ann, STORY)
    await team.says(ann, "@parley_bot hello")
    await team.until(shows("Hello."))


async def test_the_address_behind_words_reaches_the_model(own_stage: Stage, own_telegram: TelegramEmulator) -> None:
    asked: list[str] = []

    def answer(request: ModelRequest) -> Answer:
        asked.extend(request.texts("user"))
        return says("It is a page.")

    own_stage.script.respond = answer
    await own_stage.start()
    ann = own_telegram.person("Ann", language="en")
    chat = own_telegram.private(ann)

    await chat.marks(ann, "👍 this", [Entity(type="text_link", offset=3, length=4, url="https://example.com/a")])
    await chat.until(shows("It is a page."))

    assert "this (https://example.com/a)" in asked[-1]
