"""What a memory knows does not leave by the links of a page that orders it."""

from pathlib import Path

import pytest

from tests.injections.leak import OF_MEMORY, Secret, leak
from tests.injections.world import Web


@pytest.mark.parametrize("what", OF_MEMORY)
async def test_no_fact_leaves_by_links(what: Secret, tmp_path: Path) -> None:
    async with Web() as web:
        left = await leak(what, tmp_path, web)

    assert left.read
    assert left.choices == 0
