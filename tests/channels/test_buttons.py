"""The action of a button fits Telegram's limit."""

import pytest
from pydantic import ValidationError

from channels.base import Button
from channels.buttons import LONGEST_ACTION


def test_an_action_has_at_most_64_bytes() -> None:
    assert Button(label="x", action="字" * 21).action == "字" * 21

    with pytest.raises(ValidationError, match=f"more than {LONGEST_ACTION} bytes"):
        Button(label="x", action="字" * 22)
