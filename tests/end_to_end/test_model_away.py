"""What people read when the server of the model is gone while Parley runs."""

import pytest

from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.emulated import STRANGERS
from tests.end_to_end.stage import Stage, is_answered

pytestmark = [pytest.mark.quick_clock, where(lambda facts: facts.emulated)]


async def test_the_owner_reads_the_address_and_what_to_do_and_others_one_sentence(own_stage: Stage) -> None:
    owner = own_stage.net.id_of(STRANGERS + 1)
    own_stage.program.set("PARLEY_OWNERS", f"{own_stage.platform.facts.name}:{owner}")
    ann, with_ann = own_stage.private("Ann")
    bob, with_bob = own_stage.private("Bob")
    await own_stage.start()
    await own_stage.model.leave()

    await with_ann.says(ann, "hello")
    await with_bob.says(bob, "hello")
    for chat in (with_ann, with_bob):
        await chat.until(lambda c: any("cannot be reached" in text for text in c.screen) and is_answered(c), 60)

    address = own_stage.model.url.removeprefix("http://")
    assert address in with_ann.screen[-1]
    assert "Start that server again" in with_ann.screen[-1]
    assert "Error" not in with_ann.screen[-1]
    assert address not in "".join(with_bob.screen)
    assert "server" not in with_bob.screen[-1]
