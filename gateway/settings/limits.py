"""Settings of limits: quotas of disk, memory and jobs, and the length of an answer."""

from functools import lru_cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from agent_core.loop.limits import LoopLimits
from agent_core.sandbox.limits import CommandLimits

MB = 1_000_000
Amount = Annotated[int, Field(ge=1)]
_DEFAULTS = LoopLimits()
_COMMAND = CommandLimits()


class QuotaSettings(BaseModel):
    """Quotas of one Parley instance."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    chat_mb: Amount = 1000
    """MB that the files of one chat may take, including what is kept of them for /undo."""
    chat_files: Amount = 50_000
    """Files and folders that one chat may have, including what is kept of them."""
    person_mb: Amount = 2000
    """MB that one person may fill in all chats together."""
    person_files: Amount = 100_000
    """Files and folders that one person may add to all chats together."""
    chat_memory_mb: Amount = 4000
    """MB of memory that programs running at the same time in one chat may use together."""
    person_memory_mb: Amount = 4000
    """MB of memory that programs running at the same time for one person may use together, in all chats."""
    command_mb: Amount = _COMMAND.grow_bytes // MB
    """MB that one program may add to its chat."""
    command_files: Amount = _COMMAND.grow_files
    """Files that one program may add to its chat."""
    command_memory_mb: Amount = _COMMAND.all_memory_bytes // MB
    """MB of memory that one program may use, with all that it starts."""
    chat_jobs: Amount = 50
    """Jobs that one chat may have."""
    owner_jobs: Annotated[int, Field(ge=0)] = 10
    """Of these, places that are kept for owners."""
    person_jobs: Amount = 30
    """Jobs that one person who is no owner may have in all chats together."""
    person_runs: Amount = 100
    """Times a day that reports and heartbeats of one person who is no owner may run."""
    reserve_mb: Annotated[int, Field(ge=0)] = 1000
    """MB of the disk that stay free: below that no program runs, and no file is written but Parley's own."""
    ballast_mb: Annotated[int, Field(ge=0)] = 64
    """MB set aside, and freed when Parley cannot store messages because the disk is full."""

    @property
    def of_a_command(self) -> CommandLimits:
        memory = self.command_memory_mb * MB
        return CommandLimits(
            memory_bytes=max(memory, _COMMAND.memory_bytes),
            all_memory_bytes=memory,
            grow_bytes=self.command_mb * MB,
            grow_files=self.command_files,
            free_bytes=self.reserve_mb * MB,
            free_files=2 * self.chat_files if self.reserve_mb else 0,
        )


class LimitSettings(BaseModel):
    """Limits that apply separately to each answer, sub-agent and report."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_calls: Annotated[int, Field(ge=1)] = _DEFAULTS.max_turns
    """Most requests to the model for one answer."""
    tool_calls: Annotated[int, Field(ge=1)] = _DEFAULTS.max_tool_calls
    """Most tool calls for one answer."""
    minutes: Annotated[float, Field(gt=0, allow_inf_nan=False)] = _DEFAULTS.max_seconds / 60
    """Longest time for one answer in minutes, not counting waits for people's approval."""


@lru_cache
def loop_limits(limits: LimitSettings) -> LoopLimits:
    """Return the limits in the agent loop's form, with a closing answer once one is reached."""
    return LoopLimits(
        max_turns=limits.model_calls,
        max_tool_calls=limits.tool_calls,
        max_seconds=limits.minutes * 60,
        finalize_on_limit=True,
    )
