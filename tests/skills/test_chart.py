"""The chart skill draws any CSV file, and explains what it cannot draw."""

import re
import struct
import zlib
from pathlib import Path

import pytest

from tests.process import REPOSITORY, Finished, python

SKILL = REPOSITORY / "skills" / "chart"
SALES = "month,revenue,cost\nJan,100,80\nFeb,120.5,90\nMar,90,95\n"
BLUE, ORANGE, WHITE = (59, 111, 224), (240, 112, 74), (255, 255, 255)


async def chart(folder: Path, content: str | bytes, *more: str) -> Finished:
    (folder / "data.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    return await python("-E", "-s", str(SKILL / "scripts" / "chart.py"), "data.csv", *more, cwd=folder)


def picture(path: Path) -> list[bytes]:
    """Check that the file is a PNG, and return its rows, three bytes per pixel."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size) == (zlib.crc32(name + body),)
        chunks[name] = body
        at += size + 12
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    assert struct.unpack(">2I5B", chunks[b"IHDR"]) == (900, 520, 8, 2, 0, 0, 0)
    raw = zlib.decompress(chunks[b"IDAT"])
    assert len(raw) == 520 * (900 * 3 + 1)
    return [raw[row * 2701 + 1 : (row + 1) * 2701] for row in range(520)]


def count(path: Path, color: tuple[int, int, int]) -> int:
    return sum(row[at : at + 3] == bytes(color) for row in picture(path) for at in range(0, 2700, 3))


async def test_few_rows_become_bars(tmp_path: Path) -> None:
    done = await chart(tmp_path, SALES)

    assert (done.code, done.err) == (0, "")
    assert done.out == "chart.png: bar chart of revenue 90 to 120.5, cost 80 to 95 by month, 3 rows\n"
    blue, orange = count(tmp_path / "chart.png", BLUE), count(tmp_path / "chart.png", ORANGE)
    assert blue > orange > 10_000
    assert blue / orange == pytest.approx(310.5 / 265, rel=0.05)
    assert picture(tmp_path / "chart.png")[0] == bytes(WHITE) * 900


async def test_many_rows_become_a_line(tmp_path: Path) -> None:
    rows = "".join(f"{number},{number * number}\n" for number in range(50))
    done = await chart(tmp_path, f"n,square\n{rows}", "squares.png", "--title", "Squares")

    assert done.out == "squares.png: line chart of square 0 to 2,401 by n, 50 rows\n"
    assert 1000 < count(tmp_path / "squares.png", BLUE) < 10_000


@pytest.mark.parametrize("encoding", ["shift_jis", "gb18030", "utf-32"])
async def test_an_old_encoding_is_named_or_asked_for(tmp_path: Path, encoding: str) -> None:
    content = "日付,個数\n一月,12\n二月,8\n".encode(encoding)

    refused = await chart(tmp_path, content)
    assert refused.code == 2
    assert "--encoding shift_jis (read_file tells it)" in refused.err

    drawn = await chart(tmp_path, content, "--encoding", encoding)
    assert "個数 8 to 12 by 日付, 2 rows" in drawn.out


async def test_columns_kind_and_title_may_be_told(tmp_path: Path) -> None:
    done = await chart(tmp_path, SALES, "--x", "Month", "--y", "cost", "--kind", "line", "--title", "x" * 500)

    assert done.out == "chart.png: line chart of cost 80 to 95 by month, 3 rows\n"


async def test_a_hundred_thousand_rows(tmp_path: Path) -> None:
    rows = "".join(f"{number},{number % 1000}\n" for number in range(100_000))

    line = await chart(tmp_path, f"n,value\n{rows}")
    bars = await chart(tmp_path, f"n,value\n{rows}", "--kind", "bar")

    assert re.search(r"100,000 rows, shown as \d+ means$", line.out.strip())
    assert bars.code == 0


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("stadt;umsatz\nKöln;1.234,5\nBonn;-2\n".encode("latin-1"), "umsatz -2 to 1,234 by stadt"),
        ("\ufeffname,n\na,1\nb,2\n", "n 1 to 2 by name"),
        ("sep=;\nstadt;a;umsatz\nKöln;x;1,5\nBonn;y;2\n", "umsatz 1.5 to 2 by stadt"),
        ("name\tn\na\t1\nb\t2\n".encode("utf-16"), "n 1 to 2 by name"),
        ("a|1\nb|2\n", "column 2 1 to 2 by column 1"),
        ("value\n3\n4\n", "value 3 to 4, 2 rows"),
        ("3\n4\n5\n", "column 1 3 to 5, 3 rows"),
        ("year,n\n2020,5\n2021,7\n", "n 5 to 7 by year"),
        ('name,n\na,"1,000"\nb,"2,500"\n', "n 1,000 to 2,500 by name"),
        ('name,n\na,"1,5"\nb,"2,75"\n', "n 1.5 to 2.75 by name"),
        ("name,n\na,12 %\nb,$3\nc,€ 4.5\n", "n 3 to 12 by name"),
        ("name,n\na,1\nb,NaN\nc,\nd,inf\ne,5\n", "n 1 to 5 by name, 5 rows"),
        ("name,n\na,7\n", "n 7 to 7 by name, 1 rows"),
        ("name,n\na,0\nb,0\n", "n 0 to 0"),
        ("name,n\na,-5\nb,-9\n", "n -9 to -5"),
        ("name,n\na,1e99\nb,-1e99\nc,1e-300\n", "n -1e+99 to 1e+99 by name, 3 rows"),
        ("name,n\na,1e20\nb,100000000000000016384\n", "by name, 2 rows"),
        ('name,n\n"two\nlines",1\nshort\n名字,2,extra\n', "2 by name, 3 rows"),
        ("a,b,c,d,e,f,g,h\n" + "1,2,3,4,5,6,7,8\n" * 3, "by a, 3 rows"),
        ("name,n\n" + "a very long name that nobody can read in a chart,1\n" * 20, "by name, 20 rows"),
    ],
)
async def test_it_is_drawn_however_it_is_written(tmp_path: Path, content: str | bytes, says: str) -> None:
    done = await chart(tmp_path, content)

    assert (done.code, done.err) == (0, "")
    assert says in done.out
    assert done.out.count("\n") == 1
    assert set(picture(tmp_path / "chart.png")) > {bytes(WHITE) * 900}


@pytest.mark.parametrize(
    ("content", "more", "says"),
    [
        ("", (), "data.csv is empty"),
        ("\n \n,,\n", (), "data.csv is empty"),
        ("name,n\n", (), "data.csv has a header but no rows"),
        ("name\na\nb\n", (), "data.csv has no column of numbers"),
        ("a,b\nx,y\nz,w\n", (), "data.csv has no column of numbers"),
        ("name,n\na,NaN\nb,NaN\n", (), "data.csv has no column of numbers"),
        (b"\x89PNG\r\n\0\0\0", (), "data.csv is no text file"),
        (SALES, ("--y", "profit"), "there is no column profit; there are: month, revenue, cost"),
        (SALES, ("--y", "month"), "the column month holds no numbers"),
        (SALES, ("no/such/folder.png",), "No such file or directory"),
        (f'a,b\n"{"x" * 200_000}",1\n', (), "data.csv is not a CSV file: field larger than field limit"),
    ],
)
async def test_what_cannot_be_drawn_is_told(
    tmp_path: Path, content: str | bytes, more: tuple[str, ...], says: str
) -> None:
    done = await chart(tmp_path, content, *more)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("chart.py: ")
    assert says in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "chart.png").exists()


@pytest.mark.parametrize(
    "values", ["7", "0,0", "-5,-9", "1e99,-1e99,1e-300", "1,NaN,2,,3", "1e20,100000000000000016384"]
)
async def test_strange_numbers_make_a_line_too(tmp_path: Path, values: str) -> None:
    lines = "".join(f"x,{value}\n" for value in values.split(","))
    done = await chart(tmp_path, f"name,n\n{lines}", "--kind", "line")

    assert (done.code, done.err) == (0, "")
    assert set(picture(tmp_path / "chart.png")) > {bytes(WHITE) * 900}


async def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for name in ("missing.csv", "."):
        done = await python(str(SKILL / "scripts" / "chart.py"), name, cwd=tmp_path)

        assert done.code == 2
        assert done.err.startswith(f"chart.py: cannot read {name}: ")


def test_the_skill_says_what_it_is_for() -> None:
    front, _, words = (SKILL / "SKILL.md").read_text().removeprefix("---\n").partition("---\n")

    assert dict(line.split(": ", 1) for line in front.splitlines()).keys() == {"name", "description"}
    assert "name: chart" in front
    assert "scripts/chart.py" in words
