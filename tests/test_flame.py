"""The flame graph of a hello: each function as wide as its share of the time, on the one that called it."""

from xml.etree import ElementTree

from bench.flame import MARGIN, NARROWEST, ROW, WIDTH, draw, of_plugins

SPENT = {
    ("gateway/chat/run: drive",): 1_000_000,
    ("gateway/chat/run: drive", "agent_core/loop: <run>"): 2_000_000,
    ("gateway/chat/run: drive", "gateway/plugins/dice/plugin: prompt"): 1_000,
    ("aiosqlite",): 1_000_000,
}


def boxes(picture: str) -> dict[str, tuple[float, float]]:
    """Return where each box stands and how wide it is, by the name that its hint gives."""
    space = "{http://www.w3.org/2000/svg}"
    found = {}
    for group in ElementTree.fromstring(picture).iter(f"{space}g"):  # noqa: S314 - ours
        hint, box = group.findtext(f"{space}title"), group.find(f"{space}rect")
        assert hint is not None
        assert box is not None
        found[hint.rpartition(": ")[0]] = float(box.get("y", "")), float(box.get("width", ""))
    return found


def test_a_function_is_as_wide_as_its_time_and_stands_on_the_one_that_called_it() -> None:
    drawn = boxes(draw(SPENT, 1))

    whole = WIDTH - 2 * MARGIN
    row, width = drawn["gateway/chat/run: drive"]
    assert round(width / whole, 2) == 0.75
    above, wide = drawn["agent_core/loop: <run>"]
    assert (row - above, round(wide / whole, 2)) == (ROW, 0.5)
    assert round(drawn["aiosqlite"][1] / whole, 2) == 0.25


def test_what_takes_no_time_to_speak_of_is_not_drawn() -> None:
    assert all("plugins" not in name for name in boxes(draw(SPENT, 1)))
    assert min(width for _, width in boxes(draw(SPENT, 1)).values()) >= NARROWEST
    assert of_plugins(SPENT) == {"dice": 1_000}
