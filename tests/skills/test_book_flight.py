"""The flight skill's scripts: the current time, and a search in the sample timetable."""

import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.process import Finished
from tests.skills.kit import run

THURSDAY = date(2099, 12, 31)


async def search(folder: Path, start: str, end: str, *more: str, on: date | str = THURSDAY) -> Finished:
    return await run(
        "book-flight", "search_flights.py", "--from", start, "--to", end, "--date", str(on), *more, cwd=folder
    )


def flights(done: Finished) -> list[str]:
    return re.findall(r"^- (ZZ\d+) ", done.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("start", "end"),
    [("Beijing", "Tokyo"), ("北京", "东京"), ("北京市", "东京"), ("pek", "NRT"), (" beijing ", "TOKYO")],
)
async def test_flights_are_found_by_the_name_of_the_city(tmp_path: Path, start: str, end: str) -> None:
    done = await search(tmp_path, start, end)

    assert (done.code, done.err) == (0, "")
    first, count, *rows, last = done.out.splitlines()
    assert first == "Searching flights from Beijing (PEK) to Tokyo (NRT) on 2099-12-31, economy, 1 passenger"
    assert count.startswith("2 found; times are local")
    assert rows == [
        "- ZZ101  2099-12-31 (Thu)  08:20 -> 12:50  3 h 30 min  CNY 2,180",
        "- ZZ102  2099-12-31 (Thu)  13:40 -> 18:10  3 h 30 min  CNY 2,340",
    ]
    assert last == "This is a sample timetable: the flights are not real and cannot be booked."


async def test_a_weekday_has_the_same_flights_in_any_year(tmp_path: Path) -> None:
    later = await search(tmp_path, "Beijing", "Dubai", on=THURSDAY + timedelta(days=7 * 53 + 1))
    sooner = await search(tmp_path, "Beijing", "Dubai", on=THURSDAY + timedelta(days=1))

    assert flights(later) == flights(sooner) == ["ZZ135"]


async def test_cabin_passengers_and_days_count(tmp_path: Path) -> None:
    one = await search(tmp_path, "Beijing", "London", "--class", "business")
    three = await search(tmp_path, "Beijing", "London", "--class", "公务舱", "--passengers", "3", "--days", "2")

    price = int(re.findall(r"CNY ([\d,]+)", one.out)[0].replace(",", ""))
    assert re.findall(r"CNY ([\d,]+)", three.out) == [f"{price * 3:,}"] * 2
    assert "on 2099-12-31 to 2100-01-01, business, 3 passengers" in three.out


@pytest.mark.parametrize("written", ["2099-12-31", "2099/12/31", "2099.12.31", "2099年12月31日"])
async def test_a_date_may_be_written_as_people_do(tmp_path: Path, written: str) -> None:
    assert flights(await search(tmp_path, "Beijing", "Tokyo", on=written)) == ["ZZ101", "ZZ102"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("Beijing", "San Francisco"), "Error: Unknown destination city 'San Francisco'"),
        (("北京", "旧金山"), "Error: Unknown destination city '旧金山'"),
        (("Atlantis", "Tokyo"), "Error: Unknown departure city 'Atlantis'"),
        (("Beijing", ""), "Error: Unknown destination city ''"),
        (("Chengdu", "Sydney"), "Error: No route from Chengdu to Sydney"),
        (("Beijing", "Beijing"), "Error: No route from Beijing to Beijing"),
        (
            ("Beijing", "New York"),
            "Error: No flights from Beijing to New York on 2099-12-31; it is flown on Monday, Wednesday, Friday",
        ),
        (("Beijing", "Tokyo", "--class", "first"), "Error: No flights from Beijing to Tokyo have the cabin first"),
        (
            ("Beijing", "Tokyo", "--class", "luggage"),
            "Error: Unknown cabin 'luggage'; there are economy, business, first",
        ),
        (("Beijing", "Tokyo", "--passengers", "10"), "Error: Argument --passengers: 10 is not a number from 1 to 9"),
        (("Beijing", "Tokyo", "--days", "x"), "Error: Argument --days: x is not a number from 1 to 7"),
    ],
)
async def test_what_cannot_be_found_is_an_error_in_one_line(
    tmp_path: Path, arguments: tuple[str, str], says: str
) -> None:
    done = await search(tmp_path, *arguments)

    assert (done.code, done.out, done.err) == (1, "", f"{says}\n")


@pytest.mark.parametrize("written", ["tomorrow", "2099-13-01", "2099-02-30", "9999-12-31", "31.12.2099", ""])
async def test_a_date_that_is_none_is_told(tmp_path: Path, written: str) -> None:
    done = await search(tmp_path, "Beijing", "Tokyo", on=written)

    assert (done.code, done.err) == (1, f"Error: Unknown date '{written}'; write it as 2026-12-27\n")


async def test_yesterday_is_over_everywhere(tmp_path: Path) -> None:
    done = await search(tmp_path, "Beijing", "Tokyo", on="2020-01-01")

    assert done.code == 1
    assert done.err.startswith("Error: The date 2020-01-01 is in the past; today is 20")


async def test_what_is_missing_is_told(tmp_path: Path) -> None:
    done = await run("book-flight", "search_flights.py", cwd=tmp_path)

    assert (done.code, done.err) == (1, "Error: The following arguments are required: --from, --to, --date\n")


@pytest.mark.parametrize("zone", ["", "UTC", "Asia/Shanghai"])
async def test_the_time_is_told_with_the_days_after_it(tmp_path: Path, zone: str) -> None:
    done = await run("book-flight", "get_current_time.py", *(["--zone", zone] if zone else []), cwd=tmp_path)

    assert (done.code, done.err) == (0, "")
    today, clock, tomorrow, *_ = done.out.splitlines()
    found = re.fullmatch(r"Current Date: (\d{4}-\d\d-\d\d) \(\w+day\)", today)
    assert found
    assert re.fullmatch(r"Current Time: \d\d:\d\d:\d\d \([\w/+-]+, UTC[+-]\d{4}\)", clock)
    assert tomorrow.startswith(f"Tomorrow: {date.fromisoformat(found[1]) + timedelta(days=1)} (")
    if zone:
        assert f"({zone}, UTC{'+0800' if 'Asia' in zone else '+0000'})" in clock


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "/etc/passwd"])
async def test_a_zone_that_is_none_is_told(tmp_path: Path, zone: str) -> None:
    done = await run("book-flight", "get_current_time.py", "--zone", zone, cwd=tmp_path)

    assert (done.code, done.out) == (1, "")
    assert done.err == f"Error: Unknown time zone '{zone}'; name one such as Asia/Shanghai\n"
