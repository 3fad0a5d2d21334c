"""What of a text may be streamed before its end is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.links import show_link_targets
from channels.slack.mentions import without_mentions
from channels.slack.settled import settled
from tests.cpu import cpu_seconds_at_most


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("Hello wor", "Hello wor"),
        ("Hello ", "Hello"),
        ("Hello **bo", "Hello"),
        ("Hello **bold**, y", "Hello **bold**, y"),
        ("2 * 3 and a_b_c", "2 * 3 and a_b_c"),
        ("2 < 3", "2 < 3"),
        ("see [x](https://a.exa", "see"),
        ("see [x](https://a.example) y", "see [x](https://a.example) y"),
        ("see [x]", "see"),
        ("at https://a.exam", "at"),
        ("dear <!chann", "dear"),
        ("dear <!channel> all", "dear <!channel> all"),
        ("dear <!channel|a<@U7>b", "dear"),
        ("dear <<!x|@U7>", "dear"),
        ("use `cod", "use"),
        ("use `code` x", "use `code` x"),
        ("a\n\n**b** c\n\n- item", "a\n\n**b** c\n\n- item"),
        ("a\n-", "a"),
        ("a\n---", "a"),
        ("a\n| b | c", "a"),
        ("```py\nprint(1", "```py\nprint(1"),
        ("```py\nprint(1)\n``", "```py\nprint(1)"),
        ("```\nx\n```\nafter", "```\nx\n```\nafter"),
        ("你好，世界", "你好，世界"),
    ],
)
def test_open_marks_wait_for_their_end(markdown: str, shown: str) -> None:
    assert settled(markdown) == shown


def test_a_mark_that_stays_open_for_long_is_a_mere_character() -> None:
    assert settled("*" + "word " * 100 + "end") == "*" + "word " * 100 + "end"


PIECES = st.sampled_from(
    ("a", "Hello ", "\n", "\n\n", "**", "*", "_", "~~", "`", "```", "```py\n", "[", "](", ")", "]", "!", "<", ">", "<!",
     "<@U7>", "<!channel>", "<!here|x>", "|", "\\", "&amp;", "https://a.example/", "- ", "> ", "# ", "你", "1. ",
     "[secret]", "[paypal.com](https://evil.example)")
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join), st.integers(0, 400))
def test_what_is_shown_begins_what_the_text_ends_as(markdown: str, at: int) -> None:
    now, end = show_link_targets(markdown[:at].strip()), show_link_targets(markdown.strip())
    if not end.startswith(now[: len(settled(now))]):
        assert "](" in markdown or "]:" in markdown, "only links are shown otherwise later"
        return
    assert without_mentions(end).startswith(without_mentions(settled(now)))


@pytest.mark.parametrize("piece", [" ", "[", "*a ", "\\", "&", "```\n", "[](", "_a_", "<!a|", "<!a|<@U7>", "<@U7>"])
def test_no_text_takes_long(piece: str) -> None:
    text = "a" + piece * (9_000 // len(piece)) + "b"
    with cpu_seconds_at_most(0.5):
        settled(text[:-1])
        settled(text)
