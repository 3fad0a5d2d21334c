"""Discord channels in which each conversation gets its own thread, and channels that were deleted."""

import asyncio

from parley.testing.emulators.discord import DiscordEmulator
from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, ends_with, shows
from tests.end_to_end.stored import sources

pytestmark = only("discord")


async def test_where_it_is_set_so_each_conversation_gets_a_thread(
    own_stage: Stage, own_discord: DiscordEmulator
) -> None:
    own_stage.program.set("DISCORD_THREAD_CHANNELS", "all")
    own_stage.script.respond = lambda asked: says(f"heard {len(asked.texts('user'))}")
    await own_stage.start()
    ann, bob = own_discord.person("Ann"), own_discord.person("Bob")
    team = own_discord.group("Team", [ann, bob])

    from_ann = await team.says(ann, "@parley_bot plan a trip")
    await team.until(shows("heard 1"))
    thread = team.thread(from_ann)
    assert thread.screen == ["heard 1"]
    await thread.says(ann, "to Oslo")
    await thread.until(shows("heard 1", "heard 2"))
    from_bob = await team.says(bob, "@parley_bot and one for me")

    await team.until(shows("heard 1", "heard 2", "heard 1"))
    assert team.thread(from_bob).screen == ["heard 1"]
    assert own_stage.said == ["Bob: and one for me"]


async def test_a_person_quotes_their_own_words_of_another_thread_on_discord(
    own_stage: Stage, own_discord: DiscordEmulator
) -> None:  # D-27
    own_stage.program.set("DISCORD_THREAD_CHANNELS", "all")
    own_stage.script.then(says("It is Oslo."), says("Yes."))
    await own_stage.start()
    ann = own_discord.person("Ann", language="en")
    room = own_discord.group("team", [ann])
    said = await room.says(ann, "@parley_bot name a town")
    await room.until(ends_with("It is Oslo."))

    await room.says(ann, "@parley_bot did you see that?", reply_to=said)
    await room.until(ends_with("Yes."))
    assert await sources(own_stage) == []


async def test_an_answer_to_a_channel_that_was_deleted_is_given_up_and_others_are_answered(
    own_stage: Stage, own_discord: DiscordEmulator
) -> None:
    own_stage.slow_down()  # after 1.5 s progress is shown, in which the words come before they are the answer
    await own_stage.start()
    ann = own_discord.person("Ann")
    team = own_discord.group("Team", [ann])
    bob, with_bob = own_stage.private("Bob")
    writing = asyncio.Event()
    own_stage.script.then(says("For nobody.", hold=writing), says("Hello Bob."))

    await team.says(ann, "@parley_bot write something")
    await own_stage.asked(1)
    await team.delete_channel()
    writing.set()
    await own_discord.wait_for(lambda: any("For nobody." in str(call.params) for call in own_discord.calls))
    await with_bob.says(bob, "hello")

    await with_bob.until(shows("Hello Bob."))
    tried = [call.status for call in own_discord.calls if "For nobody." in str(call.params)]
    assert tried.count(404) == 1, "the channel is tried once; Ann gets the answer in private"
