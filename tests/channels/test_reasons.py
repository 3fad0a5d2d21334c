"""What a platform says of a refused call is shown to people as one short line."""

from channels.base import AccountRefused, ChannelError
from channels.values import LONGEST_REASON


def test_a_reason_is_one_line_without_signs_that_nobody_sees() -> None:
    assert ChannelError("Bad Request:\n\n# Pay\x1b[31m \u202eeve\tnow").reason == "Bad Request: # Pay [31m eve now"
    assert AccountRefused("no\r\ntoken").reason == "no token"


def test_a_long_reason_is_cut_between_words_so_that_masking_knows_a_secret_in_it() -> None:
    said = ChannelError(f"{'word ' * 58}sk-live-0123456789abcdef and more").reason

    assert len(said) <= LONGEST_REASON + 2
    assert said.endswith("word …")
