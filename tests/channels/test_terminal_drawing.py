"""The styled terminal draws Markdown, links files, shows pictures as blocks, and obeys no control sequence."""

import re
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from rich.cells import cell_len

from channels.attachments import Attachment
from channels.base import Button, OutboundMessage
from channels.terminal.render import NEWEST, Drawing
from channels.terminal.text import Abilities, abilities, safe
from tests.examples import examples

ANSWER = """# Sales

**North** leads, with *stress* and `code`.
A second line; see [the report](https://example.com/report).

| Region | Sales |
|:-------|------:|
| North  | 1,234 |
| 东部   |    99 |

1. one
2. a longer second item that has no room in one line of a narrow terminal

```
print("a line of code")
```
"""
STYLE = re.compile(r"\x1b\[[0-9;]*m")
LINK = re.compile(r"\x1b\]8;(?:id=\d+)?;([^\x1b\x07]*)\x1b\\")
PLAIN = Drawing(Abilities("256", links=False))
LINKING = Drawing(Abilities("truecolor", links=True))
MARKS = ["**", "*", "_", "`", "```\n", "~~", "[a](", "http://x.y/", ")", "![", "<b>", "&#27;", "&#x9b;", "&#x202e;"]
MARKS += ["\x1b[31m", "\x1b]8;;", "\x9b", "\x07", "\r", "\n", "\n\n", "> ", "- ", "1. ", "# ", "|a|b|\n|-|-|\n|", "|"]
MARKS += ["    ", "\t", "\\", "字", "🦉", "e\u0301", "\u200b", "word ", "\ud800"]


def said(markdown: str, *files: Attachment) -> OutboundMessage:
    return OutboundMessage(markdown=markdown, attachments=files)


def drawn(markdown: str, columns: int = 80, drawing: Drawing = PLAIN) -> str:
    return drawing.settled(said(markdown), columns, 24)


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in STYLE.sub("", text).split("\n")]


def chart(path: Path, size: tuple[int, int] = (90, 52), kind: str = "PNG") -> Attachment:
    image = Image.new("RGB", size, "white")
    image.paste((255, 0, 0), (0, 0, size[0] // 2, size[1]))
    image.save(path, kind)
    return Attachment(name=path.name, mime_type=f"image/{kind.lower()}", path=str(path))


def test_markdown_is_drawn() -> None:
    text = drawn(ANSWER)

    assert "\x1b[1mNorth\x1b[0m leads" in text
    assert "\x1b[3mstress\x1b[0m" in text
    seen = lines(text)
    assert "A second line; see the report (https://example.com/report)." in seen
    assert "North    1,234" in seen
    assert "东部        99" in seen, "letters that are two cells wide are counted so"
    assert " 1. one" in seen
    assert '  print("a line of code")' in seen
    assert not re.search(r"[*`#]|\|", "".join(seen))


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_every_line_fits_the_terminal(columns: int) -> None:
    seen = lines(drawn(ANSWER, columns))

    assert max(cell_len(line) for line in seen) <= columns
    assert "with stress and code" in " ".join(seen)


def test_a_table_that_has_no_room_is_told_row_by_row() -> None:
    rows = ["|Department|Responsibility|Headquarters|", "|-|-|-|", "|Engineering|Infrastructure|Johannesburg|"]

    assert lines(drawn("\n".join([*rows, "|Sales|Asia|Oslo|"]), 30)) == [
        "Department: Engineering",
        "Responsibility: Infrastructure",
        "Headquarters: Johannesburg",
        "",
        "Department: Sales",
        "Responsibility: Asia",
        "Headquarters: Oslo",
    ]


def test_raw_html_and_what_is_meant_literally_stay_as_they_are() -> None:
    assert lines(drawn(r"<b>a</b> 17\*23\*2 &amp;")) == ["<b>a</b> 17*23*2 &"]


def test_buttons_and_files_are_told_below() -> None:
    buttons = ((Button(label="English", action="/language en"),),)
    files = (Attachment(name="report.pdf", path="/home/me/report.pdf"),)
    message = OutboundMessage(markdown="Which?", buttons=buttons, attachments=files)

    seen = lines(PLAIN.settled(message, 80, 24))
    assert seen == ["Which?", "", "[report.pdf: /home/me/report.pdf]", "", "  English: /language en"]


# Control sequences in a message have no effect


@pytest.mark.parametrize(
    "markdown",
    [
        "\x1b[31mred",
        "&#27;[31mred",
        "&#x9b;31mred",
        "`\x1b[31mred`",
        "```\x1b]0;t\x07\nred\n```",
        "&#x202e;red",
        "red\x07",
    ],
)
def test_no_sequence_of_a_message_reaches_the_terminal(markdown: str) -> None:
    left = STYLE.sub("", drawn(markdown)).replace("\n", "")

    assert safe(left) == left
    assert "\x1b[31m" not in drawn(markdown)


@given(
    st.lists(st.sampled_from(MARKS), max_size=25).map("".join), st.integers(8, 90), st.sampled_from([PLAIN, LINKING])
)
@settings(deadline=None, max_examples=examples(300))
def test_whatever_a_message_is_made_of_only_our_styles_and_links_are_obeyed(
    markdown: str, columns: int, drawing: Drawing
) -> None:
    text = drawing.settled(said(markdown), columns, 24)
    left = LINK.sub("", STYLE.sub("", text))

    assert safe(left) == left
    assert all(re.match(r"(https?://|mailto:|$)", address) for address in LINK.findall(text))
    live = STYLE.sub("", drawing.live([said(markdown)], columns, 24))
    assert safe(live) == live


# Links


def test_words_are_a_link_where_the_terminal_can_and_only_to_the_web() -> None:
    text = drawn("[the report](https://example.com/r) [file](file:///etc/passwd)", drawing=LINKING)

    assert LINK.findall(text) == ["https://example.com/r", ""]
    assert "the report" in text
    assert "(https://example.com/r)" not in text
    assert "[file](file:///etc/passwd)" in text


@pytest.mark.parametrize("mark", ["", "!"], ids=["link", "image"])
def test_an_address_that_is_told_on_every_line_is_a_short_one(mark: str) -> None:
    address = "https://example.com/" + "a" * 20_000
    text = drawn(f"{mark}[{'word ' * 4_000}]({address})", drawing=LINKING)

    assert LINK.findall(text) == []
    assert "".join(STYLE.sub("", text).split()).endswith(f"({address})")
    assert len(text) < 60_000


def test_a_files_path_is_a_link_to_it(tmp_path: Path) -> None:
    path = tmp_path / "my report;1.pdf"
    text = LINKING.settled(said("", Attachment(name="report.pdf", path=str(path))), 200, 24)

    [address, end] = LINK.findall(text)
    assert re.fullmatch(rf"file://[^/]+{re.escape(str(tmp_path))}/my%20report%3B1\.pdf", address)
    assert end == ""
    assert str(path) in text


# Pictures


def test_a_picture_is_shown_in_half_blocks(tmp_path: Path) -> None:
    file = chart(tmp_path / "chart.png")

    text = LINKING.settled(said("Here.", file), 40, 24)

    rows = [line for line in lines(text) if "▀" in line]
    assert {len(row) for row in rows} == {40}
    assert len(rows) == 12  # 52 / 90 of 40 columns, two pixels a cell
    assert "\x1b[38;2;255;0;0;48;2;255;0;0m▀" in text
    assert "\x1b[38;5;196;48;5;196m▀" in PLAIN.settled(said("", file), 40, 24)


def test_a_picture_is_no_higher_than_the_terminal(tmp_path: Path) -> None:
    text = LINKING.settled(said("", chart(tmp_path / "high.png", (50, 900))), 80, 20)

    assert len([line for line in lines(text) if "▀" in line]) == 15


def test_a_photograph_is_shown_too_and_another_format_is_its_path_only(tmp_path: Path) -> None:
    photograph, other = chart(tmp_path / "a.jpg", kind="JPEG"), chart(tmp_path / "a.gif", kind="GIF")

    assert "▀" in LINKING.settled(said("", photograph), 80, 24)
    assert "▀" not in LINKING.settled(said("", other), 80, 24)


def test_a_terminal_of_few_colours_is_given_the_path_only(tmp_path: Path) -> None:
    text = Drawing(Abilities("standard", links=False)).settled(said("", chart(tmp_path / "a.png")), 200, 24)

    assert text == f"[a.png: {tmp_path}/a.png]"


def part(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def test_a_picture_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    header = part(b"IHDR", struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0))
    bomb = tmp_path / "bomb.png"
    bomb.write_bytes(
        b"\x89PNG\r\n\x1a\n" + header + part(b"IDAT", zlib.compress(bytes(1_000_000))) + part(b"IEND", b"")
    )
    file = Attachment(name="bomb.png", mime_type="image/png", path=str(bomb))

    assert "▀" not in LINKING.settled(said("Here.", file), 80, 24)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_broken_picture_costs_the_answer_nothing(tmp_path: Path, kind: str) -> None:
    whole = Path(chart(tmp_path / "whole", kind=kind).path).read_bytes()
    broken = tmp_path / "broken.png"
    file = Attachment(name="broken.png", mime_type="image/png", path=str(broken))
    for at in range(0, len(whole), 3):
        for content in (whole[:at], whole[:at] + b"\xff" + whole[at + 1 :]):
            broken.write_bytes(content)
            assert "Here." in LINKING.settled(said("Here.", file), 80, 24)
    broken.unlink()
    assert "Here." in LINKING.settled(said("Here.", file), 80, 24)


# Progress messages


def test_of_what_is_in_progress_the_newest_lines_are_shown() -> None:
    text = PLAIN.live([said("\n\n".join(f"line {number}" for number in range(100)))], 80, 10)

    assert lines(text)[0] == "…"
    assert lines(text)[-1] == "line 99"
    assert len(lines(text)) == 10


def test_the_end_of_a_long_piece_of_code_is_shown_as_code() -> None:
    code = "\n".join(f"step **{number}**" for number in range(NEWEST // 4))

    assert "step **" in PLAIN.live([said(f"Begin:\n\n```python\n{code}\n```")], 80, 10)


# Features that a terminal supports


@pytest.mark.parametrize(
    ("environ", "able"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, Abilities("truecolor", links=False)),
        ({"TERM": "xterm-256color"}, Abilities("256", links=False)),
        ({"TERM": "xterm"}, Abilities("standard", links=False)),
        ({"TERM": "xterm-kitty", "COLORTERM": "truecolor"}, Abilities("truecolor", links=True)),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, Abilities("256", links=True)),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4000"}, Abilities("256", links=False)),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, Abilities("256", links=True)),
        ({"TERM": "tmux-256color", "VTE_VERSION": "7600"}, Abilities("256", links=False)),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, None),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, None),
        ({}, None),
    ],
)
def test_what_a_terminal_can_show_is_read_from_its_environment(environ: dict[str, str], able: Abilities | None) -> None:
    assert abilities(environ) == able
