"""The running Parley, as far as guides use it."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from channels.base import ChatKey
from channels.values import Value

MODEL = "model"
"""The name of the connection to a model, where others name a platform."""


class Met(Value):
    """The person who wrote to the account while a guide waited."""

    principal: str
    """Their stable name, such as `telegram:42` or `slack:T1:U2`."""
    name: str
    chat: ChatKey
    language: str = ""
    word: str = ""
    """The word behind `/start`, if they began with that."""


class Program(Protocol):
    """The running Parley, as far as guides use it."""

    def paused(self, platform: str) -> AbstractAsyncContextManager[None]:
        """Let the program not listen on a platform while the context is open, so that a guide can."""

    async def connect(self, platform: str, owner: Met) -> str:
        """Read the settings again, connect the platform with its new tokens, and say hello to the new owner.

        Returns the reason if that has failed, else "".
        """

    async def use_model(self) -> bool:
        """Read the settings again. Return True if new answers come from the model that they name now."""
