"""Reactions are shown at once."""

import pytest

from gateway.plugins.reactions import reactions


@pytest.fixture(autouse=True)
def no_wait(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Show reactions without the pause that spares quick answers one."""
    if request.node.get_closest_marker("quick_clock") is None:
        monkeypatch.setattr(reactions, "SHOWN_AFTER", 0.01)
