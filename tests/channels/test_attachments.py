"""Names of received files, which anybody may choose, become names that can be stored and shown."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from channels.attachments import Attachment

DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
odd = st.text(st.sampled_from("aB9 ./\\\0\n\t\x1b\u202e\u200b\u2028\ud800é猫👩\u200d💻:*?<>|\"'`[]$;~-")) | st.text()


@given(odd)
@example("x" * 130 + "." + "y" * 119)
@example("." * 300)
@example("nul.txt")
def test_any_name_becomes_one_that_is_safe(given_name: str) -> None:
    name = Attachment(name=given_name).safe_name

    assert name
    assert name.strip(" .") == name
    assert not {"/", "\\"} & {*name}
    assert not any(unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") for each in name)
    assert len(name.encode()) <= 121
    assert not DEVICES.match(name)
    assert Attachment(name=name).safe_name == name


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("季度报告.xlsx", "季度报告.xlsx"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("..", "file"),
        ("", "file"),
        ("   ", "file"),
        (".bashrc", "bashrc"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("a\nb\r\n.txt", "ab.txt"),
        ("\x1b[31mred.txt", "[31mred.txt"),
        ("no-extension", "no-extension"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("Com1 .log", "_Com1 .log"),
        ("console.txt", "console.txt"),
        ("😀.txt", "😀.txt"),
        ("Abscha\u0308tzung.pdf", "Absch\u00e4tzung.pdf"),
        ("\u1112\u1161\u11ab.txt", "\ud55c.txt"),
        ("a\u200b\u0308.txt", "\u00e4.txt"),
        ("at 9.41.00\u202fAM.png", "at 9.41.00AM.png"),
        ("n" * 300 + ".pdf", "n" * 116 + ".pdf"),
        ("n" * 300 + "." + "y" * 119, "y" * 119),
    ],
)
def test_odd_names(given_name: str, name: str) -> None:
    assert Attachment(name=given_name).safe_name == name
