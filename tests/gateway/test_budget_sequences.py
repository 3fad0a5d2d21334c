"""No sequence of calls, retries, kills and restarts loses a call, counts one twice or exceeds a budget.

`PARLEY_SEQUENCES=10000 pytest -n 2 tests/gateway/test_budget_sequences.py` plays as many; `python -m bench budgets`
plays 10,000 in memory, in minutes.
"""

import os
from pathlib import Path

import pytest

from tests.gateway.spending_sequences import RandomSequence

SEQUENCES = int(os.environ.get("PARLEY_SEQUENCES", "25"))


@pytest.mark.parametrize("seed", range(SEQUENCES))
async def test_every_call_counts_once_and_no_budget_grants_more_than_it_has(tmp_path: Path, seed: int) -> None:
    await RandomSequence(tmp_path, seed).play()
