"""What platforms show and nobody can read as text: one line says so in private, and none in groups."""

from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_state import Json
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.telegram import TelegramEmulator
from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, ends_with, shows

INVITATION: Json = {"activity": {"type": 3, "party_id": "spotify:7"}}
CALL: Json = {"type": "call", "call_id": "R1"}


@only("discord")
async def test_an_invitation_to_an_activity_is_answered_with_one_line(
    own_stage: Stage, own_discord: DiscordEmulator
) -> None:
    own_stage.script.then(says("Hello."))
    await own_stage.start()
    ann = own_discord.person("Ann", language="en")
    chat, team = own_discord.private(ann), own_discord.group("Team", [ann])

    await team.shows(ann, INVITATION)
    await chat.shows(ann, INVITATION)
    await chat.until(lambda c: c.screen != [])
    await team.says(ann, "@parley_bot hello")
    await team.until(shows("Hello."))

    assert chat.screen == ["I cannot join activities or games. Tell me in words what you would like."]


@only("slack")
async def test_an_invitation_to_a_call_is_answered_with_one_line(own_stage: Stage, own_slack: SlackEmulator) -> None:
    own_stage.script.then(says("Hello."))
    await own_stage.start()
    ann = own_slack.person("Ann", language="zh")
    chat, team = own_slack.private(ann), own_slack.group("Team", [ann])

    await team.shows(ann, CALL)
    await chat.shows(ann, CALL)
    await chat.until(lambda c: c.screen != [])
    said = await team.says(ann, "@parley_bot hello")
    thread = team.thread(said)
    await thread.until(shows("Hello."))

    assert chat.screen == ["我无法加入通话，请用文字告诉我您想做什么。"]
    assert team.screen in ([], ["Hello."])


@only("discord")
async def test_the_model_is_told_of_what_could_not_be_read_with_the_next_message(
    own_stage: Stage, own_discord: DiscordEmulator
) -> None:
    own_stage.script.then(says("That was an invitation."))
    await own_stage.start()
    ann = own_discord.person("Ann", language="en")
    chat = own_discord.private(ann)
    await chat.shows(ann, INVITATION)
    await chat.until(lambda c: c.screen != [])

    await chat.says(ann, "what was that?")
    await chat.until(ends_with("That was an invitation."))

    assert "could not be read here: activity" in str(own_stage.model.requests[-1])


@only("discord")
async def test_the_model_is_told_of_what_could_not_be_read_before_a_kill(
    own_stage: Stage, own_discord: DiscordEmulator
) -> None:
    own_stage.script.then(says("That was an invitation."))
    await own_stage.start()
    ann = own_discord.person("Ann", language="en")
    chat = own_discord.private(ann)
    await chat.shows(ann, INVITATION)
    await chat.until(lambda c: c.screen != [])

    await own_stage.program.kill()
    await own_stage.start()
    await chat.says(ann, "what was that?")
    await chat.until(ends_with("That was an invitation."))

    assert "could not be read here: activity" in str(own_stage.model.requests[-1])


@only("telegram")
async def test_a_file_of_an_odd_shape_is_told_to_the_person_and_to_the_model_and_the_words_are_answered(
    own_stage: Stage, own_telegram: TelegramEmulator
) -> None:
    own_stage.script.then(says("At seven."))
    await own_stage.start()
    ann = own_telegram.person("Ann", language="en")
    chat = own_telegram.private(ann)
    odd: Json = {"caption": "when?", "caption_entities": [{"type": 7}], "document": {"file_name": "plan.pdf"}}

    await chat.shows(ann, odd)
    await chat.until(shows("I could not read a file of this message. Send it again.\n\nAt seven."))

    assert "Parts of this message could not be read here: file" in own_stage.circumstances[-1]
    assert own_stage.said[-1] == "when?"


@only("discord")
async def test_a_part_of_an_odd_shape_takes_nothing_else_of_its_message_along(
    own_stage: Stage, own_discord: DiscordEmulator
) -> None:
    own_stage.script.then(says("Hello."))
    await own_stage.start()
    ann = own_discord.person("Ann", language="en")
    chat = own_discord.private(ann)
    odd: Json = {
        "content": "are you there?",
        "embeds": [{"title": ["no title"]}, 7],
        "sticker_items": ["of another shape"],
        "message_snapshots": [{"message": {"content": 5}}],
    }

    await chat.shows(ann, odd)
    await chat.until(
        shows(
            "I could not read this sticker. Tell me in words what you mean.\n\n"
            "I could not read a part of this message. Send me that part as text.\n\nHello."
        )
    )

    assert "are you there?" in str(own_stage.model.requests[-1])
