"""The progress message of a long run is deleted once the answer is there, which takes its buttons."""

from pathlib import Path

from gateway.delivery.progress_message import DELETABLE
from tests.gateway.progressing import shown


async def test_one_that_does_not_become_the_answer_is_deleted_unless_it_is_too_old_for_that(tmp_path: Path) -> None:
    async with shown(tmp_path) as scene:
        scene.starts("1")
        await scene.clock.advance(12)
        await scene.channel.until(lambda: scene.message.posted is not None)
        assert not scene.message.may_become_answer
        assert scene.message.leaves_nothing
        assert scene.message.takes_buttons

        scene.clock.now += DELETABLE  # the run is as it was a day ago

        assert not scene.message.leaves_nothing
        assert not scene.message.takes_buttons
