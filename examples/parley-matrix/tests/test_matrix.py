"""The Matrix channel passes the tests of every channel, and Parley answers over it."""

import asyncio

import pytest
from conftest import MatrixStage
from parley_matrix.adapter import open_channel
from parley_matrix.config import Config
from parley_matrix.normalise import normalise, original, written
from pydantic import SecretStr

from parley.channels import AccountRefused, Menu
from parley.testing import People, StartBot
from parley.testing.channels import ChannelTests, listening, seen


class TestMatrix(ChannelTests):
    """The fixture `stage` is that of conftest.py."""


async def test_parley_answers_in_the_room(stage: MatrixStage, start_bot: StartBot) -> None:
    people = People(owners=frozenset({"matrix:@ann|matrix.test"}), allow=frozenset())
    bot = await start_bot("Hello, Ann.", beside=(stage.channel,), people=people)
    await stage.ready()

    await stage.says("hello")
    await seen(stage, lambda screen: screen == ["Hello, Ann."])
    await stage.matrix.says("let me in", "@mallory:matrix.test")
    await stage.says("/help")
    await seen(stage, lambda screen: any("/help" in text for text in screen))

    assert len(bot.llm.requests) == 1


async def test_a_room_with_more_people_is_not_read(stage: MatrixStage) -> None:
    stage.matrix.members.append("@bob:matrix.test")
    async with listening(stage) as heard:
        await stage.says("for all of you")
        while not any(call.endswith("/joined_members") for call in stage.matrix.calls):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        stage.matrix.members.pop()
        event = await heard.hears("for you")

    assert event.message_id == "$1"


async def test_a_wrong_token_is_told_at_once(stage: MatrixStage) -> None:
    channel = open_channel(Config(access_token=SecretStr("other"), server=stage.matrix.address), lambda: 0.0)

    async def inbox(event: object) -> None:
        raise AssertionError(event)

    with pytest.raises(AccountRefused):
        async with asyncio.timeout(30):
            await channel.run(inbox, Menu())
    await channel.close()


@pytest.mark.parametrize(
    "odd", [None, 7, [], {}, {"type": "m.room.message"}, {"content": {"msgtype": "m.text", "body": 7}}]
)
def test_what_is_no_message_is_nothing(odd: object) -> None:
    assert normalise(odd, "!room:matrix.test", "@parley:matrix.test") is None


@pytest.mark.parametrize("matrix_id", ["@ann:matrix.test", "!room:matrix.test:8448", "!withoutserver"])
def test_an_id_is_written_without_its_first_colon_and_read_again(matrix_id: str) -> None:
    assert original(written(matrix_id)) == matrix_id
