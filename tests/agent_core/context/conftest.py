"""Compaction over every client: who summarises stands at the other end of a wire."""

from collections.abc import Callable

import pytest

from agent_core.models.scripted import Turn
from tests.agent_core.context.compacting import Chat, Talker, start_chat
from tests.agent_core.kit import MakeModel

StartChat = Callable[..., Chat]


@pytest.fixture
def starts_chat(model_of: MakeModel) -> StartChat:
    """`start_chat` over the models of `model_of`."""

    def start(talker: Talker | None = None, *turns: Turn, **rest: object) -> Chat:
        begin: StartChat = start_chat
        return begin(talker, *turns, over=model_of(), **rest)

    return start
