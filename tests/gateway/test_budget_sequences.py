"""No sequence of calls, retries, kills and restarts loses a call, counts one twice or exceeds a budget."""

from pathlib import Path

import pytest

from tests.gateway.spending_sequences import RandomSequence


@pytest.mark.parametrize("seed", range(25))
async def test_every_call_counts_once_and_no_budget_grants_more_than_it_has(tmp_path: Path, seed: int) -> None:
    await RandomSequence(tmp_path, seed).play()
