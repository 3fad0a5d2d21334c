"""The reminders skill's script lists what is overdue, due and soon, whatever the file contains."""

from pathlib import Path

import pytest

from tests.process import Finished
from tests.skills.kit import run

NOW = "2026-12-27T10:00"  # a Sunday


async def due(folder: Path, text: str, *more: str, at: str = NOW) -> Finished:
    (folder / "reminders.md").write_text(text, encoding="utf-8")
    return await run("reminders", "due.py", "--at", at, *more, cwd=folder)


async def test_each_is_told_where_it_belongs(tmp_path: Path) -> None:
    done = await due(
        tmp_path,
        "# Reminders\n"
        "- [ ] 2026-12-28 09:00 Call the bank\n"
        "- [ ] 2026-12-27 09:30 打电话\n"
        "- [ ] 2026-12-27 Water the plants\n"
        "- [x] 2026-12-26 Buy tickets\n"
        "- [ ] 2026-12-26 Pay\n"
        "- [ ] 2026-12-27 18:00 Cook\n"
        "* [ ] 2027-01-09 Renew\n"
        "Some words, and - no reminder\n",
    )

    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "Now: 2026-12-27 Sun 10:00",
        "Overdue:",
        "- 2026-12-26 Sat Pay",
        "- 2026-12-27 Sun 09:30 打电话",
        "Due today:",
        "- 2026-12-27 Sun Water the plants",
        "- 2026-12-27 Sun 18:00 Cook",
        "Soon:",
        "- 2026-12-28 Mon 09:00 Call the bank",
        "Later (1): 2027-01-09 Sat Renew",
    ]


@pytest.mark.parametrize(
    ("line", "following"),
    [
        ("2026-12-27 09:00 Walk (every day)", "2026-12-28 Mon 09:00"),
        ("2026-12-25 09:00 Work (every weekday)", "2026-12-28 Mon 09:00"),
        ("2026-11-01 Report (every week)", "2026-12-27 Sun"),
        ("2026-08-31 Rent (every month)", "2026-12-31 Thu"),
        ("2026-11-30 Rent (every month)", "2026-12-30 Wed"),
        ("2024-02-29 Leap (every year)", "2027-02-28 Sun"),
        ("2026-12-26 Pills (every 3 days)", "2026-12-29 Tue"),
        ("2026-12-26 Pills (Every 2 Weeks)", "2027-01-09 Sat"),
        ("2026-12-27 Today (every week)", "2027-01-03 Sun"),
    ],
)
async def test_what_comes_back_says_when(tmp_path: Path, line: str, following: str) -> None:
    done = await due(tmp_path, f"- [ ] {line}\n")

    assert done.out.splitlines()[-1].endswith(f"; next: {following}")


@pytest.mark.parametrize(
    ("at", "zone", "now"),
    [
        ("2026-12-27T10:00", "Asia/Tokyo", "2026-12-27 Sun 10:00"),
        ("2026-12-27T20:00+00:00", "Asia/Tokyo", "2026-12-28 Mon 05:00"),
        ("2026-12-27T20:00Z", "utc", "2026-12-27 Sun 20:00"),
        ("2026-07-01T12:00+00:00", "Europe/Paris", "2026-07-01 Wed 14:00"),
    ],
)
async def test_the_time_is_the_person_s_own(tmp_path: Path, at: str, zone: str, now: str) -> None:
    done = await due(tmp_path, "- [ ] 2026-12-27 Call\n", "--zone", zone, at=at)

    assert done.out.splitlines()[0] == f"Now: {now}"


async def test_how_far_it_looks_ahead_is_told(tmp_path: Path) -> None:
    text = "- [ ] 2026-12-29 Call\n"

    near, far = await due(tmp_path, text), await due(tmp_path, text, "--within", "72")

    assert near.out.splitlines()[1:] == ["Nothing is due.", "Later (1): 2026-12-29 Tue Call"]
    assert far.out.splitlines()[1:] == ["Soon:", "- 2026-12-29 Tue Call"]


async def test_lines_that_cannot_be_read_are_shown(tmp_path: Path) -> None:
    done = await due(tmp_path, "- [ ] tomorrow: call\n- [ ] 2026-02-30 Never\n- [ ] 2026-01-01 25:00 x\n- [ ] \n")

    assert done.out.splitlines()[1:] == [
        "Nothing is due.",
        "Cannot be read:",
        "- line 1: no date such as 2026-12-27 before the words: - [ ] tomorrow: call",
        "- line 2: there is no such date or time (day is out of range for month): - [ ] 2026-02-30 Never",
        "- line 3: there is no such date or time (hour must be in 0..23): - [ ] 2026-01-01 25:00 x",
    ]


async def test_many_later_ones_are_counted(tmp_path: Path) -> None:
    done = await due(tmp_path, "".join(f"- [ ] 2027-03-{day:02} Day {day}\n" for day in range(1, 31)))

    assert done.out.splitlines()[-1].startswith("Later (30): 2027-03-01 Mon Day 1; ")
    assert done.out.splitlines()[-1].endswith("; and 25 more")


async def test_what_comes_back_after_the_end_of_time_does_not_break_it(tmp_path: Path) -> None:
    done = await due(tmp_path, "- [ ] 9999-12-31 End (every year)\n", at="9999-12-31T10:00")

    assert done.code == 0
    assert done.out.splitlines()[-1] == "- 9999-12-31 Fri End; it does not come back any more"


async def test_what_began_ages_ago_comes_back_soon(tmp_path: Path) -> None:
    lines = [f"- [ ] 0001-01-01 Old {number} (every {number} days)" for number in range(1, 201)]

    done = await due(tmp_path, "\n".join([*lines, "- [ ] 0004-02-29 Leap (every year)"]), at="2026-12-27T10:00")

    assert "- 0001-01-01 Mon Old 1; next: 2026-12-27 Sun" in done.out
    assert "- 0001-01-01 Mon Old 7; next: 2026-12-28 Mon" in done.out
    assert "- 0004-02-29 Sun Leap; next: 2027-02-28 Sun" in done.out


async def test_no_file_is_no_reminders(tmp_path: Path) -> None:
    done = await run("reminders", "due.py", cwd=tmp_path)

    assert (done.code, done.out) == (0, "There are no reminders: no file reminders.md.\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--zone", "Mars/Olympus"), "the zone Mars/Olympus is not known; name one such as Europe/Paris"),
        (("--at", "noon"), "invalid"),
        (("--within", "1e300"), "too far ahead"),
        (("--within", "nan"), "takes hours"),
        ((".",), "cannot read ."),
    ],
)
async def test_what_cannot_be_asked_is_told(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    (tmp_path / "reminders.md").write_text("- [ ] 2026-12-29 Call\n")

    done = await run("reminders", "due.py", *arguments, cwd=tmp_path)

    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "Traceback" not in done.err
