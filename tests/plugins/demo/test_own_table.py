"""The demo model's chart draws a user's own file, even if it is named like a sample of Parley's."""

from pathlib import Path

import pytest

from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, is_finished
from tests.process import REPOSITORY, python

pytestmark = [where(lambda facts: facts.emulated), pytest.mark.timeout(120)]

OWN = b"month,all\nMay,7\nJune,3\n"


async def drawn(folder: Path, table: bytes) -> bytes:
    """Return the picture that the chart skill's script draws from a table."""
    (folder / "table.csv").write_bytes(table)
    script = REPOSITORY / "skills" / "chart" / "scripts" / "chart.py"
    done = await python(str(script), "table.csv", "own.png", cwd=folder)
    assert done.code == 0, done.err
    return (folder / "own.png").read_bytes()


@pytest.mark.parametrize("sample_first", [True, False], ids=["after the sample", "at once"])
async def test_the_persons_own_table_is_drawn_and_not_the_sample(
    own_stage: Stage, tmp_path: Path, *, sample_first: bool
) -> None:
    stage = own_stage
    ann, chat = stage.private("Ann")
    stage.program.set("PARLEY_MODEL", "demo")
    stage.program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    await stage.start()
    await chat.says(ann, "/status")
    await chat.until(lambda c: "Up:" in c.screen[-1])
    await chat.presses(ann, "More")
    await chat.until(lambda c: "Programs:" in c.screen[-1])
    if "Programs: sandboxed" not in chat.screen[-1]:
        pytest.skip("no sandbox here")
    if sample_first:
        await chat.says(ann, "chart sales.csv")
        await chat.until(lambda c: "sent you the picture" in c.screen[-1] and is_finished(c))
    await chat.says(ann, "chart sales.csv", document=("sales.csv", OWN, "text/csv"))

    await chat.until(lambda c: len(stage.net.pictures(chat)) == 1 + sample_first)
    *earlier, newest = stage.net.pictures(chat)
    assert newest not in earlier
    assert newest == await drawn(tmp_path, OWN)
