"""The report skill's script lists new files with the parts that a report needs."""

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.skills.kit import run


def note(path: Path, content: str | bytes, hours_ago: float = 1) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    at = (datetime.now().astimezone() - timedelta(hours=hours_ago)).timestamp()
    os.utime(path, (at, at))


async def test_what_is_new_is_listed_with_what_is_in_it(tmp_path: Path) -> None:
    note(tmp_path / "notes" / "plan.md", "# Plan\n## Week 52 ##\n- [ ] print\n- [x] draw\n- [X] pay\n", 2)
    note(tmp_path / "notes" / "sales.csv", "month;revenue;note\nJan;1.200,5;x\nFeb;90;\n", 1)
    note(tmp_path / "notes" / "old.md", "# Old\n", 30)
    note(tmp_path / "notes" / ".hidden.md", "# Hidden\n")
    note(tmp_path / "notes" / "photo.png", b"\x89PNG\0\xff", 3)

    done = await run("daily-report", "recent.py", "notes", cwd=tmp_path)

    assert (done.code, done.err) == (0, "")
    head, sales, plan, photo = done.out.splitlines()
    assert head.startswith("3 files changed since ")
    assert head.endswith(", newest first:")
    assert sales.startswith("- sales.csv  ")
    assert sales.endswith("; 2 rows; numbers: revenue; changed: revenue 1.200,5 -> 90")
    assert plan.endswith("; headings: Plan / Week 52; 1 open; 2 done")
    assert photo.startswith("- photo.png  ")
    assert photo.endswith(", 6 bytes")


async def test_what_reports_leave_behind_is_no_news(tmp_path: Path) -> None:
    for name in ("reports/2026-12-27.md", "watch/blog.json", "report.png", "notes/reports/mine.md"):
        note(tmp_path / name, "# New\n")

    done = await run("daily-report", "recent.py", cwd=tmp_path)
    asked = await run("daily-report", "recent.py", "reports", cwd=tmp_path)

    assert [line.split()[1] for line in done.out.splitlines()[1:]] == ["notes/reports/mine.md"]
    assert "- 2026-12-27.md" in asked.out


@pytest.mark.parametrize(
    ("table", "changed"),
    [
        ("day,a,b\n1,5,x\n2,7,x\n", "; changed: day 1 -> 2, a 5 -> 7"),
        ("day,a\nMon,5\nTue,5\n", ""),
        ("day,a\nMon,5\n", ""),
        ("day,a\nMon,5\nTue\n", ""),
    ],
)
async def test_numbers_that_changed_are_named(tmp_path: Path, table: str, changed: str) -> None:
    note(tmp_path / "t.csv", table)

    done = await run("daily-report", "recent.py", cwd=tmp_path)

    assert done.out.splitlines()[1].partition("; changed")[2] == changed.removeprefix("; changed")


async def test_nothing_new_is_nothing_to_report(tmp_path: Path) -> None:
    note(tmp_path / "old.md", "# Old\n", 25)

    done = await run("daily-report", "recent.py", cwd=tmp_path)

    assert done.code == 0
    assert done.out.startswith("Nothing to report.\nNo file in . has changed since ")


async def test_since_when_may_be_told(tmp_path: Path) -> None:
    note(tmp_path / "old.md", "# Old\n", 30)

    week = await run("daily-report", "recent.py", "--hours", "168", cwd=tmp_path)
    since = await run("daily-report", "recent.py", "--since", "2020-01-01", cwd=tmp_path)
    late = await run("daily-report", "recent.py", "--since", "2199-01-01T09:00", cwd=tmp_path)

    assert "- old.md" in week.out
    assert "- old.md" in since.out
    assert late.out.startswith("Nothing to report.")


async def test_many_and_strange_files_do_no_harm(tmp_path: Path) -> None:
    for number in range(45):
        note(tmp_path / f"{number}.txt", "", 2)
    note(tmp_path / "a.csv", b"\xff\xfe\0\0")
    note(tmp_path / "b.csv", f'a,b\n"{"x" * 200_000}",1\n')
    note(tmp_path / "c.md", "x" * 2_000_000)
    note(tmp_path / "d.csv", "")
    note(tmp_path / "e.csv", f"a,b\n1,{'1' * 200_000}x\n")
    os.utime(tmp_path / "e.csv", (2**33, 2**33))
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "link.md").symlink_to("/etc/passwd")

    done = await run("daily-report", "recent.py", cwd=tmp_path)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("50 files changed")
    assert done.out.endswith("and 10 more, older ones\n")
    assert "link.md" not in done.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("nowhere",), "there is no folder nowhere"), (("--hours", "1e99"), "that time"), (("--since", "now"), "invalid")],
)
async def test_what_cannot_be_asked_is_told(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    done = await run("daily-report", "recent.py", *arguments, cwd=tmp_path)

    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "Traceback" not in done.err
