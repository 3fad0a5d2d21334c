"""A Matrix server, and the channel on it."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from matrix_server import TOKEN, Matrix
from parley_matrix.adapter import MatrixChannel, open_channel
from parley_matrix.config import Config
from pydantic import SecretStr


class MatrixStage:
    """Ann's private chat with the bot."""

    def __init__(self, matrix: Matrix, channel: MatrixChannel) -> None:
        self.matrix = matrix
        self.channel = channel

    async def ready(self) -> None:
        while not self.matrix.is_asked:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    async def says(self, text: str) -> None:
        await self.matrix.says(text)

    def screen(self) -> list[str]:
        return self.matrix.screen()


@pytest.fixture
async def stage() -> AsyncIterator[MatrixStage]:
    matrix = Matrix()
    async with matrix.server:
        channel = open_channel(Config(access_token=SecretStr(TOKEN), server=matrix.address), lambda: 0.0)
        yield MatrixStage(matrix, channel)
        await channel.close()
