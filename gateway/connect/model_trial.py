"""A test call of a model, with its time and its price."""

import asyncio
import time
from collections.abc import Mapping, Sequence

from msgspec import Struct

from agent_core.clock import SystemClock
from agent_core.messages import Usage, user
from agent_core.models.failures import redact
from agent_core.models.llm import FailureCause, FailureKind, LlmFailure, LlmOptions, LlmRequest, ModelInfo, StreamDone
from agent_core.models.provided import ModelProvider
from agent_core.models.selection import BASE_URL, ModelChoice, choose_model, make_client
from agent_core.origin import CLEAN

WITHIN = 60.0
"""Seconds for the whole call."""
MOST_TOKENS = 512
LONGEST_REASON = 200
"""Most characters quoted from the provider's answer."""
_REQUEST = LlmRequest(
    system="You are being tried out.", messages=(user("Say hello in one short sentence.", origin=CLEAN),)
)

_OF_CAUSE = {
    FailureCause.NETWORK: "connect_model_failed_network",
    FailureCause.NOT_FOUND: "connect_model_failed_not_found",
    FailureCause.PROTOCOL: "connect_model_failed_protocol",
}
_OF_KIND = {FailureKind.AUTH: "connect_model_failed_auth", FailureKind.QUOTA: "connect_model_failed_quota"}


class Trial(Struct, frozen=True):
    """The outcome of a test call."""

    model: ModelInfo
    seconds: float
    answer: str
    usage: Usage
    failure: LlmFailure | None = None

    @property
    def price(self) -> float | None:
        """The price in US dollars, or None if it is unknown."""
        is_known = self.model.input_price is not None and self.model.output_price is not None
        return self.usage.cost_usd if is_known else None

    @property
    def reason(self) -> str:
        """The provider's words about the failure."""
        return redact(self.failure.message)[:LONGEST_REASON] if self.failure else ""

    @property
    def trouble(self) -> str:
        """The key of the text about the failure; empty if there was none."""
        if self.failure is None:
            return ""
        of_cause = _OF_CAUSE.get(self.failure.cause) if self.failure.cause else None
        return of_cause or _OF_KIND.get(self.failure.kind, "connect_model_failed_other")


async def chosen(
    values: Mapping[str, str], environ: Mapping[str, str], provided: Sequence[ModelProvider] = ()
) -> ModelChoice:
    """Return the model that a start with these variables would choose. Raises ModelSettingError."""
    whole = {name: value for name, value in {**environ, **values}.items() if value}
    return await choose_model(values.get("PARLEY_MODEL"), whole, base_url=whole.get(BASE_URL), provided=provided)


async def tried(choice: ModelChoice) -> Trial:
    """Call the model once."""
    client = make_client(choice, SystemClock())
    options = LlmOptions(max_tokens=choice.model.answer_tokens(MOST_TOKENS), timeout_s=WITHIN)
    start, done = time.monotonic(), None
    try:
        async with asyncio.timeout(WITHIN):
            async for event in client.stream(choice.model, _REQUEST, options):
                if isinstance(event, StreamDone):
                    done = event
    except TimeoutError:
        done = None
    finally:
        await client.close()
    seconds = time.monotonic() - start
    if done is None:
        slow = LlmFailure(
            kind=FailureKind.TRANSIENT, cause=FailureCause.NETWORK, message=f"no answer within {WITHIN:g} s"
        )
        return Trial(choice.model, seconds, "", Usage(), slow)
    return Trial(choice.model, seconds, done.message.text.strip(), done.message.usage, done.failure)
