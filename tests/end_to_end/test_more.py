"""The button *More* under a short reply, as each platform has it."""

from tests.end_to_end.jobs import SECONDS
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage


@where(lambda facts: facts.emulated)
async def test_more_edits_the_short_reply_into_the_long_one(own_stage: Stage) -> None:
    own_stage.program.set("PARLEY_OWNERS", f"{own_stage.platform.facts.name}:{own_stage.private('Ann')[0].id}")
    await own_stage.start()
    ann, chat = own_stage.private("Ann")
    await chat.says(ann, "/skills")
    await chat.until(lambda c: any("Also: " in text for text in c.screen), SECONDS)
    count = len(chat.screen)

    await chat.presses(ann, "More")
    await chat.until(lambda c: any("[○] summarise-thread" in text for text in c.screen), SECONDS)

    assert len(chat.screen) == count
    assert not any("Also: " in text for text in chat.screen)
    assert not any("More" in str(message.buttons) for message in chat.bot_messages)
