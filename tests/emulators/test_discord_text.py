"""Discord's markdown as users read it."""

import pytest

from parley.testing.emulators.discord_text import words


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("It is **391**.", "It is 391."),
        ("***all*** *of* _it_ __is__ ~~not~~ ||secret||", "all of it is not secret"),
        ("# Plan\n-# small\n> said", "Plan\nsmall\nsaid"),
        ("```python\na = **kw\n```", "a = **kw"),
        ("`**x**` and ``a`b``", "**x** and a`b"),
        (r"2 \* 3 \_ 4 and snake_case_name", "2 * 3 _ 4 and snake_case_name"),
        ("[site](<https://a.example>) <https://b.example/_x_>", "site https://b.example/_x_"),
        ("hi <@7> and <@8>", "hi @Ann and @unknown-user"),
        ("5 * 3 * 2 is 30", "5 * 3 * 2 is 30"),
        ("**bold with `code` in it**", "bold with code in it"),
    ],
)
def test_the_words_are_left_without_their_marks(content: str, read: str) -> None:
    assert words(content, {"7": "Ann"}) == read
