"""The skill author's check finds errors in a new skill before a user tries to load it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.skills.kit import run

GOOD = (
    "---\nname: invoice-check\ndescription: Checks invoices. Use it when one comes.\n---\n\n# Invoices\n\n1. Read it.\n"
)


def written(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / "skills" / "invoice-check" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


async def check(folder: Path) -> tuple[int | None, list[str]]:
    done = await run("skill-author", "check.py", "skills/invoice-check", cwd=folder)
    assert done.err == ""
    return done.code, done.out.splitlines()


@pytest.mark.parametrize(
    "files",
    [
        {"SKILL.md": GOOD},
        {"SKILL.md": GOOD.replace("\n", "\r\n")},
        {"SKILL.md": "\ufeff" + GOOD},
        {"SKILL.md": GOOD.replace("one comes.", '"one" comes.')},
        {"SKILL.md": GOOD.replace("Checks invoices. Use it when one comes.", '"Checks: all #1"')},
        {"SKILL.md": GOOD.replace("---\n\n#", "tags: [a, b]\nrequires:\n  bins:\n  - git\n---\n\n#", 1)},
        {"SKILL.md": GOOD + "Load references/a.md, run scripts/x.py.", "references/a.md": "A", "scripts/x.py": ""},
        {"SKILL.md": GOOD + "Load reference.md. See assets/t.csv.", "reference.md": "A", "assets/t.csv": "\xff"},
    ],
)
async def test_a_good_one_can_be_loaded(tmp_path: Path, files: Mapping[str, str | bytes]) -> None:
    written(tmp_path, files)

    assert await check(tmp_path) == (0, ["OK: invoice-check can be loaded"])


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"README.md": "x"}, "there is no file SKILL.md"),
        ({"SKILL.md": ""}, "SKILL.md does not begin with a header between two lines of ---"),
        ({"SKILL.md": "# Invoices\n"}, "SKILL.md does not begin with a header between two lines of ---"),
        ({"SKILL.md": "---\nname: invoice-check\n"}, "SKILL.md does not begin with a header between two lines of ---"),
        ({"SKILL.md": b"---\nname: \xff\n---\n"}, "SKILL.md is not UTF-8"),
        ({"SKILL.md": "x" * 300_000}, "SKILL.md is larger than 256 KB"),
        (
            {"SKILL.md": GOOD.replace("name: invoice-check\n", "")},
            "the header has no name; write `name: invoice-check`",
        ),
        ({"SKILL.md": GOOD.replace("name: invoice-check", "name: invoices")}, "the skill is called invoices, but its"),
        ({"SKILL.md": GOOD.replace("name: invoice-check", "name: Invoice_Check")}, "Invoice_Check is no name for"),
        ({"SKILL.md": GOOD.replace("description:", "about:")}, "the header has no description"),
        ({"SKILL.md": GOOD.replace("Checks", "x" * 1_025)}, "the description has 1,058 characters; 1,024 is the most"),
        (
            {"SKILL.md": GOOD.replace("Checks invoices.", "Checks: all.")},
            "line 3: put the value of description in double",
        ),
        ({"SKILL.md": GOOD.replace("Checks", "@ann checks")}, "line 3: put the value of description in double"),
        (
            {"SKILL.md": GOOD.replace("---\n\n#", "nonsense\n---\n\n#", 1)},
            "SKILL.md line 4 is not `key: value`: nonsense",
        ),
        ({"SKILL.md": GOOD.partition("# Inv")[0]}, "SKILL.md has a header but no instructions"),
        ({"SKILL.md": GOOD + "字" * 8_001}, "tokens and cannot be loaded; 8,000 is the most"),
        ({"SKILL.md": GOOD + "Run scripts/count.py."}, "SKILL.md names scripts/count.py, which is not there"),
        ({"SKILL.md": GOOD + "Load reference.md."}, "SKILL.md names reference.md, which is not there"),
        ({"SKILL.md": GOOD, "references/a.pdf": "x"}, "references/a.pdf cannot be loaded"),
        ({"SKILL.md": GOOD + "See ../other."}, "SKILL.md leads out of its folder"),
        ({"SKILL.md": GOOD + "The key is sk-abcdefghijklmnop1234."}, "SKILL.md seems to hold a key or password"),
    ],
)
async def test_what_is_wrong_is_told(tmp_path: Path, files: Mapping[str, str | bytes], says: str) -> None:
    written(tmp_path, files)

    code, lines = await check(tmp_path)

    assert code == 1
    assert any(line.startswith("wrong: ") and says in line for line in lines), lines
    assert not any(line.startswith("OK") for line in lines)


async def test_advice_does_not_forbid(tmp_path: Path) -> None:
    long = "x" * 20_100
    written(tmp_path, {"SKILL.md": GOOD + long, "references/a.md": "字" * 9_000})

    code, lines = await check(tmp_path)

    assert code == 0
    assert lines[0] == "OK: invoice-check can be loaded"
    assert lines[1:] == [
        "advice: references/a.md has about 9,000 tokens; split it",
        "advice: SKILL.md has about 5,032 tokens; move details into references",
        "advice: SKILL.md never says when to load references/a.md",
    ]


async def test_a_link_out_is_found(tmp_path: Path) -> None:
    written(tmp_path, {"SKILL.md": GOOD})
    (tmp_path / "skills" / "invoice-check" / "passwords.md").symlink_to("/etc/passwd")

    assert await check(tmp_path) == (1, ["wrong: passwords.md is a link; put the file itself there"])


async def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert await check(tmp_path) == (1, ["wrong: there is no folder skills/invoice-check"])
