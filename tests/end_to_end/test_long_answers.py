"""Very long and very wide answers, whose Markdown breaks wherever the model pauses, arrive whole on every platform."""

import re
from collections.abc import Sequence
from typing import cast

import pytest

from parley.testing.emulators.slack import SlackEmulator
from tests.emulators.model_script import Turn, says
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.stage import Stage, is_finished, says_last

pytestmark = [pytest.mark.quick_clock, where(lambda facts: facts.emulated), pytest.mark.timeout(120)]

COLUMNS = 40
PARAGRAPHS = [
    f"## Part {part}\n\n" + " ".join(f"**{number:06}** and *{number + 1:06}*," for number in range(part, part + 100, 2))
    for part in range(100_000, 104_400, 100)
]
CODE = "```python\n" + "".join(f"print({number:06})  # `x` and *y*\n" for number in range(200_000, 200_300)) + "```"
TABLE = "\n".join(
    "| " + " | ".join(cells) + " |"
    for cells in (
        [f"c{column:02}" for column in range(COLUMNS)],
        ["---"] * COLUMNS,
        *([f"{row}{column:05}" for column in range(COLUMNS)] for row in (3, 4, 5)),
    )
)
LONG = "\n\n".join([*PARAGRAPHS, CODE])
"""More than 60,000 characters."""


def numbers_in(screen: Sequence[str]) -> list[str]:
    return re.findall(r"(?<!\d)\d{6}(?!\d)", "\n".join(screen))


async def test_an_answer_of_sixty_thousand_characters_arrives_whole_in_order_and_once(own_stage: Stage) -> None:
    stage = own_stage
    stage.net.lift_limits()
    await stage.start()
    ann, chat = stage.private("Ann")
    stage.script.then(says(LONG, chunk=41))
    wanted = re.findall(r"(?<!\d)\d{6}(?!\d)", LONG)

    await chat.says(ann, "tell me all of it")
    await chat.until(lambda c: numbers_in(c.screen) == wanted and is_finished(c), 60)

    assert len(LONG) > 60_000
    assert all(message.shown.strip() for message in chat.bot_messages)


async def test_a_table_of_forty_columns_keeps_every_cell_where_it_belongs(own_stage: Stage) -> None:
    stage = own_stage
    stage.net.lift_limits()
    await stage.start()
    ann, chat = stage.private("Ann")
    stage.script.then(says(f"Here it is:\n\n{TABLE}\n\nThat is all.", chunk=7))

    await chat.says(ann, "show me the table")
    await chat.until(says_last("That is all."), 60)

    cells = [f"{row}{column:05}" for row in (3, 4, 5) for column in range(COLUMNS)]
    assert numbers_in(chat.screen) == cells


@only("slack")
async def test_the_same_is_streamed_on_slack_and_becomes_whole_messages(own_stage: Stage) -> None:
    stage = own_stage
    slack = cast("SlackEmulator", stage.net.emulator)
    stage.net.lift_limits()
    await stage.start()
    ann = slack.person("Ann")
    pane = await slack.private(ann).opens_assistant(ann)
    whole = f"{LONG}\n\n{TABLE}\n\nThat is all."
    stage.script.then(Turn(whole, chunk=41, per_chunk=0.002))
    wanted = re.findall(r"(?<!\d)\d{6}(?!\d)", whole)

    await pane.says(ann, "tell me all of it")
    await pane.until(lambda c: numbers_in(c.screen) == wanted and not c.streaming, 150)

    assert len(slack.calls_of("chat.startStream")) == 1
    assert pane.broken == []
