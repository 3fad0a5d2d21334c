"""Reasons for which answers end, as servers write them, and letters that they should have escaped."""

import pytest

from agent_core.messages import StopReason
from agent_core.models.llm import FailureKind
from tests.agent_core.models.raw_models import openai
from tests.agent_core.models.test_odd_streams import WORDS, answered, each_client

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")


@each_client
@pytest.mark.parametrize("reason", ["null", "None", " ", "stopStringFound"])
async def test_an_answer_whose_end_says_no_trouble_is_whole(client: str, reason: str) -> None:
    message, failure = await answered(client, openai(*WORDS, finish=reason))

    assert (message.text, message.stop_reason, failure) == ("It is noon.", StopReason.STOP, None)


@each_client
@pytest.mark.parametrize("reason", ["contextLengthReached", "maxPredictedTokensReached", "ERROR_LIMIT", "max_time"])
async def test_an_answer_that_ended_at_a_limit_is_cut(client: str, reason: str) -> None:
    message, failure = await answered(client, openai(*WORDS, finish=reason))

    assert (message.text, message.stop_reason, failure) == ("It is noon.", StopReason.LENGTH, None)


@each_client
async def test_a_call_that_google_could_not_read_is_asked_for_again(client: str) -> None:
    _, failure = await answered(client, openai(finish="function_call_filter: MALFORMED_FUNCTION_CALL"))

    assert failure is not None
    assert failure.kind is FailureKind.TRANSIENT


@each_client
async def test_a_tab_that_is_not_escaped_costs_nothing(client: str) -> None:
    message, failure = await answered(client, openai(*WORDS).replace(b"noon.", b"noon.\tTea?"))

    assert (message.text, failure) == ("It is noon.\tTea?", None)
