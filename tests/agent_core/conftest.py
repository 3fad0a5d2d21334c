"""Fixtures that run tests over every model client, each over its own wire."""

from functools import partial

import pytest

from agent_core.models.scripted import Turn
from tests.agent_core.kit import MakeModel, StartAgent, Talk, start_agent
from tests.agent_core.over_a_wire import model_of, pytest_generate_tests

__all__ = ["model_of", "pytest_generate_tests", "starts"]


@pytest.fixture
def starts(model_of: MakeModel) -> StartAgent:
    """`start_agent` over the models of `model_of`."""

    def start(*turns: Turn, **rest: object) -> Talk:
        begin: StartAgent = partial(start_agent, over=model_of())
        return begin(*turns, **rest)

    return start
