"""No secret leaves Parley, whatever the channel and the encoding."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.security.secrets import Secrets
from tests.gateway.canaries import VALUES, found, plant
from tests.gateway.escapes import QUICK, escape
from tests.logs import restored_logs

ROOMS = 25


@pytest.fixture(autouse=True)
def logs() -> Iterator[None]:
    """Restores the logging configuration afterwards."""
    with restored_logs():
        yield


async def test_no_canary_gets_out(tmp_path: Path) -> None:
    settings = plant(tmp_path)
    assert set(VALUES) == settings.secret_values

    exits = await escape(tmp_path / "home", settings.secrets, turns=3 * ROOMS, rooms=ROOMS)

    got_out = {where: found(texts) for where, texts in exits.texts().items()}
    assert {where: seen for where, seen in got_out.items() if seen} == {}
    assert all("secret" in "".join(texts) for where, texts in exits.texts().items() if where != "console")


async def test_they_would_all_get_out_of_a_house_that_knows_no_secret(tmp_path: Path) -> None:
    exits = await escape(tmp_path / "home", Secrets(), turns=len(QUICK), rooms=ROOMS)

    singing = {where for where, texts in exits.texts().items() if found(texts)}
    assert singing == {"chat", "model", "log", "store", "names"}
