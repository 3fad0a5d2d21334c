"""Budgets of model calls: each call is reserved before it is made and settled after it."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Protocol

from msgspec import Struct

from agent_core.cancel import CancelToken
from agent_core.loop.model_chain import Candidate
from agent_core.messages import AssistantMessage
from agent_core.models.llm import LlmOptions, LlmRequest, ModelInfo


class PlannedCall(Struct, frozen=True):
    """A model call that is about to be made."""

    models: Sequence[ModelInfo]
    """The model to be asked, then those that may be asked instead of it."""
    request: LlmRequest
    options: LlmOptions


class UsedUp(Struct, frozen=True):
    """The refusal of a call for which a budget has no room."""

    reason: str
    """In English, for traces and logs."""
    can_wait: bool
    """False if the call fails instead of waiting for room."""


class Reservation(Protocol):
    """The part of the budgets that is set aside for one call."""

    def settle(self, model: ModelInfo, answer: AssistantMessage, *, begun: bool) -> None:
        """Replace the reserved amount by what the call has used.

        Args:
            model: The model that was asked.
            answer: Its answer, as far as it arrived.
            begun: False if the server has not begun to answer.
        """

    def settle_in_full(self) -> None:
        """Keep the reserved amount as an estimate, because the outcome of the call is unknown."""


class Spending(Protocol):
    """Accounts for the model calls of one agent, and limits them."""

    @property
    def cheaper(self) -> Candidate | None:
        """Return the model to ask instead of the usual one while little is left; None for no change."""

    def begin_run(self, run_id: str, user_id: str | None, *, can_wait: bool) -> None:
        """Charge the calls from now on to this run and its user.

        Args:
            can_wait: False if a call without room fails instead of waiting.
        """

    async def reserve(self, call: PlannedCall) -> Reservation | UsedUp:
        """Reserve what the call may cost. The reservation is on disk when this returns."""
        ...

    async def room(self) -> None:
        """Wait until there is room for the call that was refused last, or no more need to wait."""


class Unlimited:
    """Spending without budgets or accounts, for agents used as a library."""

    @property
    def cheaper(self) -> Candidate | None:
        return None

    def begin_run(self, run_id: str, user_id: str | None, *, can_wait: bool) -> None:
        """Do nothing."""

    async def reserve(self, call: PlannedCall) -> Reservation | UsedUp:
        return _Free()

    async def room(self) -> None:
        """Return at once."""


class _Free:
    """Reservation of a call that is not accounted for."""

    def settle(self, model: ModelInfo, answer: AssistantMessage, *, begun: bool) -> None:
        """Do nothing."""

    def settle_in_full(self) -> None:
        """Do nothing."""


async def until_cancelled(work: Coroutine[object, object, None], cancel: CancelToken) -> None:
    """Do the work, at most until the run is cancelled."""
    task = asyncio.ensure_future(work)
    forget = cancel.on_cancel(task.cancel)
    try:
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()
    finally:
        forget()
        task.cancel()
