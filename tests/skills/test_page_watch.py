"""The page-watch skill's script reports what was not on a page the last time."""

import json
from pathlib import Path

import pytest

from tests.process import Finished
from tests.skills.kit import run

FIRST = "- [Version 1](https://example.com/1?utm_source=rss)\n- [Hello](https://example.com/hello)\n"


async def look(folder: Path, text: str, *, minutes_ago: float = 0) -> Finished:
    """Run the script, with its previous run `minutes_ago` if given."""
    watch = folder / "watch"
    watch.mkdir(exist_ok=True)
    (watch / "blog.now").write_text(text, encoding="utf-8")
    if minutes_ago:
        kept = json.loads((watch / "blog.json").read_text())
        (watch / "blog.json").write_text(json.dumps({**kept, "at": kept["at"] - 60 * minutes_ago}))
    return await run("page-watch", "new.py", "watch/blog", cwd=folder)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_the_first_look_keeps_what_is_there(tmp_path: Path) -> None:
    done = await look(tmp_path, FIRST)

    assert (done.code, done.err) == (0, "")
    assert done.out == "First look: 2 lines are kept, and what is new is told from the next look on.\n"


async def test_only_what_is_new_is_told(tmp_path: Path) -> None:
    await look(tmp_path, FIRST)

    done = await look(tmp_path, "- [版本 2](https://example.com/2)\n* [Version 1!](https://example.com/1/)\n")

    assert done.out == "1 new:\n- [版本 2](https://example.com/2)\n"
    assert (await look(tmp_path, FIRST)).out == "Nothing new.\n"


async def test_whoever_was_interrupted_is_told_again(tmp_path: Path) -> None:
    await look(tmp_path, FIRST)
    news = f"- [Two](https://example.com/2)\n{FIRST}"

    first, again = await look(tmp_path, news), await look(tmp_path, news)
    late = await look(tmp_path, news, minutes_ago=11)

    assert first.out == again.out == "1 new:\n- [Two](https://example.com/2)\n"
    assert late.out == "Nothing new.\n"


async def test_a_price_may_come_back(tmp_path: Path) -> None:
    outs = [(await look(tmp_path, f"# Shop\n\nPrice:  {price}\n")).out for price in ("99 EUR", "89 EUR", "99 EUR")]

    assert outs[1:] == ["1 new:\n- Price: 89 EUR\n", "1 new:\n- Price: 99 EUR\n"]


async def test_the_name_may_be_that_of_the_file(tmp_path: Path) -> None:
    await look(tmp_path, FIRST)

    done = await run("page-watch", "new.py", "watch/blog.now", cwd=tmp_path)

    assert done.out.startswith("First look: 2 lines")
    assert names(tmp_path / "watch") == ["blog.json", "blog.now"]


async def test_a_page_without_anything_is_nothing_new(tmp_path: Path) -> None:
    await look(tmp_path, FIRST)

    assert (await look(tmp_path, "\n- \n***\n")).out == "Nothing new.\n"


@pytest.mark.parametrize("kept", ["", "{", "[]", '{"seen": 1}', '{"seen": [], "look": 1}'])
async def test_what_somebody_broke_is_told(tmp_path: Path, kept: str) -> None:
    await look(tmp_path, FIRST)
    (tmp_path / "watch" / "blog.json").write_text(kept)

    done = await look(tmp_path, FIRST)

    assert (done.code, done.out) == (2, "")
    assert "take it away to begin anew" in done.err
    assert "Traceback" not in done.err


async def test_what_is_missing_or_too_much_is_told(tmp_path: Path) -> None:
    missing = await run("page-watch", "new.py", "watch/blog", cwd=tmp_path)
    much = await look(tmp_path, "x" * 1_000_001)

    assert (missing.code, missing.out) == (2, "")
    assert "cannot read watch/blog.now" in missing.err
    assert "write the lines of this look there first" in missing.err
    assert (much.code, much.err) == (2, "new.py: watch/blog.now is larger than 1,000,000 bytes\n")


async def test_very_many_lines_do_no_harm(tmp_path: Path) -> None:
    await look(tmp_path, FIRST)

    done = await look(tmp_path, "".join(f"- https://example.com/item/{number}\n" for number in range(5_000)))

    assert done.out.startswith("200 new:\n- https://example.com/item/0\n")
