"""Settings of the disk and memory quotas of chats, people and programs."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from agent_core.sandbox.limits import CommandLimits

MB = 1_000_000
Amount = Annotated[int, Field(ge=1)]


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
    command_mb: Amount = 500
    """MB that one program may add to its chat."""
    command_files: Amount = 20_000
    """Files that one program may add to its chat."""
    command_memory_mb: Amount = 2000
    """MB of memory that one program may use, with all that it starts."""
    reserve_mb: Annotated[int, Field(ge=0)] = 1000
    """MB of the disk that stay free: below that no program runs, and no file is written but Parley's own."""
    ballast_mb: Annotated[int, Field(ge=0)] = 64
    """MB set aside, and freed when Parley cannot store messages because the disk is full."""

    @property
    def of_a_command(self) -> CommandLimits:
        memory = self.command_memory_mb * MB
        return CommandLimits(
            memory_bytes=max(memory, CommandLimits.memory_bytes),
            all_memory_bytes=memory,
            grow_bytes=self.command_mb * MB,
            grow_files=self.command_files,
            free_bytes=self.reserve_mb * MB,
            free_files=2 * self.chat_files if self.reserve_mb else 0,
        )
