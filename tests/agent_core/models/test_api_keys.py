"""A key passed with a call replaces the client's own, and is sent to the server only."""

import pytest
from pydantic import SecretStr

from agent_core.models.litellm_client import LitellmClient
from agent_core.models.llm import FailureKind, LlmClient, LlmOptions, StreamDone
from agent_core.models.openai_client import OpenAiClient
from tests.agent_core.models.clients import HELLO, KEY, OPTIONS, model_info
from tests.emulators.model_script import Failure, says
from tests.emulators.openai import OpenAiEmulator

pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

OWN = OPTIONS.model_copy(update={"api_key": SecretStr(KEY)})


def client_for(kind: str, base_url: str) -> tuple[LlmClient, str]:
    """Return a client whose own key has expired, and its name for the model."""
    if kind == "light":
        return OpenAiClient(base_url, "expired-key"), "test-model"
    return LitellmClient("expired-key", base_url), "openai/test-model"


async def ask(client: LlmClient, model: str, options: LlmOptions = OWN) -> StreamDone:
    events = [event async for event in client.stream(model_info(model, "openai"), HELLO, options)]
    last = events[-1]
    assert isinstance(last, StreamDone)
    return last


@pytest.mark.parametrize("kind", ["light", "litellm"])
async def test_the_key_of_a_call_wins_for_that_call(kind: str) -> None:  # S4-06
    async with OpenAiEmulator([says("Hi."), says("Hi.")], api_key=KEY) as server:
        client, model = client_for(kind, server.base_url)
        with_key, without = await ask(client, model), await ask(client, model, OPTIONS)
        await client.close()

    assert with_key.message.text == "Hi."
    assert without.failure is not None
    assert without.failure.kind is FailureKind.AUTH


@pytest.mark.parametrize("kind", ["light", "litellm"])
async def test_a_server_that_repeats_the_key_is_not_repeated(kind: str) -> None:  # S4-06
    async with OpenAiEmulator([Failure("bad_request", message=f"no good: {KEY}")], api_key=KEY) as server:
        client, model = client_for(kind, server.base_url)
        done = await ask(client, model)
        await client.close()

    assert done.failure is not None
    assert KEY not in str(done)
    assert KEY not in repr(OWN)
