"""For want of file handles a conversation is not summarised without a model: what asked for it waits instead."""

import pytest

from agent_core.file_handles import lacks_handles
from agent_core.models.llm import FailureCause, FailureKind
from agent_core.models.scripted import Failure
from tests.agent_core.context.compacting import Talker, start_chat, turns


async def test_a_summary_that_cannot_connect_fails_for_want_of_handles() -> None:
    chat = start_chat(Talker(summary=Failure(FailureKind.FATAL, cause=FailureCause.HANDLES)))

    with pytest.raises(OSError, match="the script says so") as raised:
        await chat.compact(turns(60))

    assert lacks_handles(raised.value)


async def test_another_failure_leaves_an_extract() -> None:
    chat = start_chat(Talker(summary=Failure(FailureKind.FATAL)))

    _, end = await chat.compact(turns(60))

    assert end.boundary is not None
