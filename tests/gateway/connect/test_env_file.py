"""The .env file is written whole or not at all, and keeps everything else."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.connect.env_file import EnvFile, changed
from gateway.errors import Refusals, SettingsError
from gateway.settings.sources import parse_dotenv


def read(text: str) -> dict[str, str]:
    refusals = Refusals()
    found = parse_dotenv(text.removeprefix("\ufeff"), Path(".env"), refusals)
    assert refusals.sentences == []
    return {name: value for name, (value, _) in found.items()}


BEFORE = """# Mine
export A='one two'  # why
B=old # because

#B=an example
C="several
lines"
B=last"""


def test_other_lines_and_comments_stay_and_new_values_come_last() -> None:
    after = changed(BEFORE, {"B": "new", "D": "it's"})

    assert after == (
        "# Mine\nexport A='one two'  # why\nB=new\n\n#B=an example\nC=\"several\nlines\"\nB=new\nD='it\\'s'\n"
    )
    assert read(after) == {"A": "one two", "B": "new", "C": "several\nlines", "D": "it's"}


def test_the_line_ends_of_windows_and_its_mark_stay() -> None:
    assert changed("\ufeffA=1\r\nB=2\r\n", {"A": "x", "C": "3"}) == "\ufeffA=x\r\nB=2\r\nC=3\r\n"


def test_an_exported_value_stays_exported() -> None:
    assert changed("export TOKEN=old\n", {"TOKEN": "new"}) == "export TOKEN=new\n"


VALUES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=40)


@given(st.dictionaries(st.sampled_from("ABCDE"), VALUES), st.dictionaries(st.sampled_from("ABCDE"), VALUES))
def test_what_is_written_is_read_again(before: dict[str, str], values: dict[str, str]) -> None:
    once = changed("# head\n", before)

    assert read(changed(once, values)) == {**before, **values}
    assert changed(once, values).startswith("# head\n")


def test_the_file_is_for_its_owner_alone_even_if_it_was_not(tmp_path: Path) -> None:
    file = tmp_path / "home" / ".env"
    EnvFile(file).write({"A": "1"})
    file.chmod(0o644)
    EnvFile(file).write({"B": "2"})

    assert file.read_text() == "A=1\nB=2\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in file.parent.iterdir()] == [".env"]


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("A=1\n")
    (tmp_path / ".env").symlink_to("elsewhere")
    EnvFile(tmp_path / ".env").write({"A": "2"})

    assert (tmp_path / ".env").is_symlink()
    assert (tmp_path / "elsewhere").read_text() == "A=2\n"


def test_a_read_only_file_a_folder_and_a_strange_file_are_left_as_they_are(tmp_path: Path) -> None:
    read_only, folder, strange = tmp_path / "read-only", tmp_path / "folder", tmp_path / "strange"
    read_only.write_text("A=1\n")
    read_only.chmod(0o400)
    folder.mkdir()
    strange.write_bytes(b"A=\xff\n")

    for file, why in ((read_only, "it is read-only"), (folder, "it is not a file"), (strange, "it is not UTF-8")):
        with pytest.raises(SettingsError, match=why):
            EnvFile(file).write({"A": "2"})
    assert read_only.read_text() == "A=1\n"
    assert strange.read_bytes() == b"A=\xff\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "read-only", "strange"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")

    with pytest.raises(SettingsError, match="cannot be written"):
        EnvFile(tmp_path / "home" / ".env").check()
