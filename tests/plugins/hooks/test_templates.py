"""What is told of an event by default, and by a template, has no gaps where the event has no value."""

import pytest

from gateway.plugins.hooks.content import content_of
from gateway.plugins.hooks.plugin import HooksPlugin
from gateway.plugins.hooks.template import filled
from tests.gateway.conftest import StartBot
from tests.plugins.hooks.sending import added, sent


async def test_a_build_that_failed_is_told_with_what_and_where(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot, "github")
    run = {"name": "Tests", "head_branch": "main", "conclusion": "failure", "html_url": "https://github.com/a/b/runs/7"}
    build = {"action": "completed", "repository": {"full_name": "a/b"}, "workflow_run": run}

    await sent(bot, hook, build, {"X-GitHub-Event": "workflow_run"})

    title, what, where, _, _ = bot.screen[-1].splitlines()
    assert title == "**GitHub: workflow\\_run** completed · a/b"
    assert (what, where) == ("Tests · main · failure", "https://github.com/a/b/runs/7")


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("{{a}} · {{none}} · {{b}}", "1 · 2"),
        ("{{none}} · {{none}} {{b}}", "2"),
        ("x {{none}} y", "x y"),
        ("- a\n  - {{none}} {{a}}", "- a\n  - 1"),
        ("{{none}}\nlast · ", "last ·"),
        ("kept · as it is", "kept · as it is"),
    ],
)
def test_of_what_is_not_there_no_dots_and_spaces_stay(template: str, told: str) -> None:
    assert filled(template, content_of('{"a": 1, "b": 2}'), "") == told
