"""Settings of the limits at which an answer stops and asks whether to continue."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from agent_core.loop.limits import LoopLimits

_DEFAULTS = LoopLimits()


class LimitSettings(BaseModel):
    """Limits that apply separately to each answer, sub-agent and report."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_calls: Annotated[int, Field(ge=1)] = _DEFAULTS.max_turns
    """Most requests to the model for one answer."""
    tool_calls: Annotated[int, Field(ge=1)] = _DEFAULTS.max_tool_calls
    """Most tool calls for one answer."""
    minutes: Annotated[float, Field(gt=0, allow_inf_nan=False)] = _DEFAULTS.max_seconds / 60
    """Longest time for one answer in minutes, not counting waits for people's approval."""

    @property
    def loop_limits(self) -> LoopLimits:
        """The limits in the agent loop's form, with a closing answer once one is reached."""
        return LoopLimits(
            max_turns=self.model_calls,
            max_tool_calls=self.tool_calls,
            max_seconds=self.minutes * 60,
            finalize_on_limit=True,
        )
