"""Markdown as Slack shows it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.models.blocks import AlertBlock

from channels.attachments import Attachment
from channels.base import Button, OutboundMessage
from channels.slack import render
from channels.values import CallRow


def blocks(message: OutboundMessage) -> list[render.Json]:
    found = render.body(message)["blocks"]
    assert isinstance(found, list)
    return [block for block in found if isinstance(block, dict)]


def test_markdown_goes_as_it_is_with_a_plain_text_beside_it() -> None:
    body = render.body(OutboundMessage(markdown="**Hi** `you`"))

    assert body == {"text": "*Hi* `you`", "blocks": [{"type": "markdown", "text": "**Hi** `you`"}]}


@pytest.mark.parametrize(
    ("markdown", "without_mentions"),
    [
        ("<!channel> now", "@channel now"),
        ("<!here|here>!", "@here!"),
        ("<!everyone>", "@everyone"),
        ("<!subteam^S01AB|@ops>", "@ops"),
        ("ask <@U7>", "ask @U7"),
        ("`<!channel>`", "`@channel`"),
        ("<<!x|@U7>>", "‹@U7>"),
        ("<!channel|a<@U7>b>", "‹!channel|a@U7b>"),
        ("<!channel|a<!here|b<@U7>c>d>", "‹!channel|a‹!here|b@U7c>d>"),
        ("a <b> <https://a.example>", "a <b> <https://a.example>"),
    ],
)
def test_a_model_calls_nobody(markdown: str, without_mentions: str) -> None:
    assert blocks(OutboundMessage(markdown=markdown))[0]["text"] == without_mentions


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("**b** and *i* and ~~s~~", "*b* and _i_ and ~s~"),
        ("# Title\ntext", "*Title*\ntext"),
        ("## A **b** title", "*A *b* title*"),
        ("- one\n  * two", "• one\n  • two"),
        ("[a b](https://a.example/?x=1&y=2)", "<https://a.example/?x=1&amp;y=2|a b>"),
        ("1 < 2 & 3 > 2", "1 &lt; 2 &amp; 3 &gt; 2"),
        ("<!channel>", "@channel"),
        ("`a*b*c <x>`", "`a*b*c &lt;x&gt;`"),
        ("```python\nif a < b:\n    **x**\n```\nso", "```\nif a &lt; b:\n    **x**\n```\nso"),
        (r"run\_skill\_script \*now\* \<here\>", "run_skill_script *now* &lt;here&gt;"),
        (r"`a\_b` and \`a\_b\`", r"`a\_b` and `a_b`"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
    ],
)
def test_the_plain_text_is_in_slacks_own_markup(markdown: str, text: str) -> None:
    assert render.mrkdwn(markdown) == text


def test_nothing_to_see_becomes_a_sign_that_can_be_posted() -> None:
    assert render.body(OutboundMessage(markdown=" \u200b")) == {
        "text": "…",
        "blocks": [{"type": "markdown", "text": "…"}],
    }


@given(st.text(alphabet="ab<>!@&*_`~[]()#-\n 😀", max_size=300))
def test_the_plain_text_holds_no_command_to_slack(markdown: str) -> None:
    text = render.mrkdwn(markdown)

    assert "<!" not in text
    assert "<@" not in text


def test_a_long_text_is_split_at_slacks_limit() -> None:
    parts = render.split(OutboundMessage(markdown="word " * 6_000, respond="https://x"))

    assert len(parts) == 3
    assert all(len(part.markdown) <= 12_000 and part.respond == "https://x" for part in parts)
    assert sum(part.markdown.count("word") for part in parts) == 6_000


def test_the_texts_for_slack_without_blocks_are_short_enough_for_an_edit() -> None:
    texts = render.plain_texts(OutboundMessage(markdown="a & b\n" * 2_000))

    assert all(len(text) <= 3_500 for text in texts)
    assert "".join(texts).count("&amp;") == 2_000


def test_buttons_stand_in_rows_and_no_row_is_too_long() -> None:
    rows = (tuple(Button(label=f"L{n}" * 50, action=f"do:{n}") for n in range(26)), (Button(label=" ", action="x"),))
    _, *actions = blocks(OutboundMessage(markdown="pick", buttons=rows))
    elements = [block["elements"] for block in actions]

    assert [len(row) for row in elements if isinstance(row, list)] == [25, 1, 1]
    buttons = [each for row in elements if isinstance(row, list) for each in row if isinstance(each, dict)]
    assert len({str(each["action_id"]) for each in buttons}) == 27
    assert buttons[0]["text"] == {"type": "plain_text", "text": ("L0" * 50)[:75]}
    assert buttons[-1]["text"] == {"type": "plain_text", "text": "…"}
    assert buttons[3]["value"] == "do:3"


def test_what_is_confirmed_and_what_is_refused_have_colours() -> None:
    row = (
        Button(label="Approve", action="y", style="primary"),
        Button(label="Deny", action="n", style="danger"),
        Button(label="More", action="m", style="quiet"),
    )
    _, actions = blocks(OutboundMessage(markdown="so?", buttons=(row,)))

    assert isinstance(actions["elements"], list)
    styles = [each.get("style") for each in actions["elements"] if isinstance(each, dict)]
    assert styles == ["primary", "danger", None]


def test_what_tells_of_a_failed_run_is_an_alert_between_the_other_words() -> None:
    trouble = "The model is **not** reachable; write `!retry`."
    message = OutboundMessage(markdown=f"So far so good.\n\n{trouble}\n\n_by another model_", trouble=trouble)
    above, alert, below = blocks(message)

    assert (above["text"], below["text"]) == ("So far so good.", "_by another model_")
    text = {"type": "mrkdwn", "text": "The model is *not* reachable; write `!retry`."}
    assert alert == {"type": "alert", "level": "error", "text": text}
    AlertBlock(text=text, level="error").validate_json()
    assert render.simple_body(message)["blocks"] == [{"type": "markdown", "text": message.markdown}]


@pytest.mark.parametrize("trouble", ["", "something else", "x" * 3_001])
def test_what_is_no_part_of_the_message_or_too_long_is_no_alert(trouble: str) -> None:
    [only] = blocks(OutboundMessage(markdown="x" * 3_001, trouble=trouble))

    assert only["type"] == "markdown"


FILES = (Attachment(name="a.txt", path="/a.txt"), Attachment(name="b.txt", path="/b.txt"))
STOP = ((Button(label="Stop", action="stop"),),)


def test_a_short_text_is_the_comment_of_the_first_file() -> None:
    parts = render.split(OutboundMessage(markdown="Both", attachments=FILES))

    assert [(part.markdown, part.attachments[0].name) for part in parts] == [("Both", "a.txt"), ("", "b.txt")]


def test_buttons_cannot_hang_on_a_file() -> None:
    first, second = render.split(OutboundMessage(markdown="Look", attachments=FILES[:1], buttons=STOP))
    bare, _ = render.split(OutboundMessage(markdown="", attachments=FILES[:1], buttons=STOP))

    assert (first.markdown, first.buttons, second.markdown, second.buttons) == ("Look", STOP, "", ())
    assert (bare.markdown, bare.buttons) == ("…", STOP)


@given(st.text(max_size=100), st.booleans(), st.booleans())
def test_what_was_split_stays_as_it_is(markdown: str, files: bool, buttons: bool) -> None:  # noqa: FBT001
    message = OutboundMessage(markdown=markdown, attachments=FILES if files else (), buttons=STOP if buttons else ())
    parts = render.split(message)

    assert [again for part in parts for again in render.split(part)] == list(parts)


def test_a_plan_with_buttons_and_no_words_is_one_message_without_a_sign_for_nothing() -> None:
    stop = ((Button(label="Stop", action="/stop 1"),),)
    waiting = CallRow(id="1", label="Waiting for approval: Running date", state="waiting")
    (part,) = render.split(OutboundMessage(markdown="", calls=(waiting,), buttons=stop))

    assert [block["type"] for block in blocks(part)] == ["plan", "actions"]
    assert "Waiting for approval" in str(render.body(part)["text"])
