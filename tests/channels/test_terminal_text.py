"""A message shown on a terminal has no control sequences, and all of its text."""

import pytest

from channels.attachments import Attachment
from channels.base import Button, OutboundMessage
from channels.terminal.text import is_live, readable, safe


def text(markdown: str) -> OutboundMessage:
    return OutboundMessage(markdown=markdown)


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("plain\ttext\nand more 你好 🦉", "plain\ttext\nand more 你好 🦉"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]52;c;aGFja2Vk\x1b\\x", "x"),
        ("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred \x9d0;t\x9cx", "red x"),
        ("\x1bP+q544e\x1b\\x", "x"),
        ("\x1b[?1049hx\x1bcx", "xx"),
        ("a\rb\x08c\x00\x7f", "abc"),
        ("line\r\nnext", "line\nnext"),
        ("cut \x1b[", "cut "),
        ("cut \x1b]0;never ended", "cut "),
        ("exe.\u202egnp", "exe.gnp"),
    ],
)
def test_a_terminal_is_given_nothing_to_obey(written: str, seen: str) -> None:
    assert safe(written) == seen


def test_buttons_and_files_are_told_in_words() -> None:
    buttons = ((Button(label="English", action="/language en"), Button(label="Stop", action="/stop")),)
    files = (Attachment(name="report.pdf", path="/home/me/report.pdf"),)
    message = OutboundMessage(markdown="Which?", buttons=buttons, attachments=files)

    assert readable(message) == "Which?\n[report.pdf: /home/me/report.pdf]\n  English: /language en"


def test_a_button_is_not_told_twice() -> None:
    buttons = ((Button(label="Approve", action="/approve 7f3k2m"), Button(label="Deny", action="/deny 7f3k2m")),)
    message = OutboundMessage(markdown="Answer with `/approve 7f3k2m`.", buttons=buttons)

    assert readable(message) == "Answer with `/approve 7f3k2m`.\n  Deny: /deny 7f3k2m"


def test_a_backslash_that_keeps_a_mark_from_being_one_is_not_shown_but_in_code() -> None:
    message = text(r"17\*23 is not `a\*b`, nor" + "\n```\n\\* x\n```\nand \\\\")

    assert readable(message) == r"17*23 is not `a\*b`, nor" + "\n```\n\\* x\n```\nand \\"


def test_only_what_can_be_stopped_is_progress() -> None:
    assert is_live(OutboundMessage(markdown="…", buttons=((Button(label="Stop", action="/stop"),),)))
    assert not is_live(text("done"))
    assert not is_live(OutboundMessage(markdown="?", buttons=((Button(label="en", action="/language en"),),)))


def test_many_buttons_that_name_things_are_one_line_and_choices_keep_their_labels() -> None:
    loads = tuple(Button(label=f"Load {name}", action=f"/skill load {name}") for name in ("chart", "flights", "notes"))
    answers = tuple(Button(label=label, action=f"/answer q {label[0]}") for label in ("1 Tea", "2 Coffee", "3 Water"))
    message = OutboundMessage(markdown="Skills", buttons=(loads, answers))

    assert readable(message).splitlines() == [
        "Skills",
        "  /skill load chart | flights | notes",
        "  1 Tea: /answer q 1",
        "  2 Coffee: /answer q 2",
        "  3 Water: /answer q 3",
    ]
