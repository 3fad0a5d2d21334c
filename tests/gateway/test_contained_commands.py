"""A command that meets a mistake of ours answers its person, says why to owners, and is not run again."""

import re

from structlog.testing import capture_logs

from tests.gateway.conftest import StartBot
from tests.postgres import execute

SORRY = r"Something went wrong on our side, and this could not be done\. Please tell .* \((?P<id>[0-9a-f]{8})\)"
SORRY_ZH = r"我们这边出了点问题，未能完成此操作。请告知 Parley 的所有者，日志中有原因。（编号 [0-9a-f]{8}）"
TO_OWNER = (
    r"Something went wrong on our side, and this could not be done: \w+: .*jobs.*\. "
    r"The log has more under (?P<id>[0-9a-f]{8}), and `parley doctor` finds damaged data\."
)


async def test_a_person_is_told_that_a_command_failed_and_under_which_id_the_log_says_why(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/allow memory:bob")
    execute(bot.home, None, "ALTER TABLE jobs RENAME TO lost")

    with capture_logs() as logs:
        await bot.hears("/cron", sender="bob")

    told = re.fullmatch(SORRY, bot.screen[-1])
    assert told is not None
    (entry,) = [each for each in logs if each["event"] == "a command failed"]
    assert entry["command"] == "cron"
    assert entry["id"] == told["id"]
    assert entry["exc_info"]


async def test_an_owner_is_told_the_cause_and_what_to_do(start_bot: StartBot) -> None:
    bot = await start_bot()
    execute(bot.home, None, "ALTER TABLE jobs RENAME TO lost")

    await bot.hears("/cron")

    assert re.fullmatch(TO_OWNER, bot.screen[-1])


async def test_a_group_is_shown_no_cause(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/language zh", group="team")
    execute(bot.home, None, "ALTER TABLE jobs RENAME TO lost")

    await bot.hears("/cron", group="team")

    assert re.fullmatch(SORRY_ZH, bot.screen[-1])


async def test_a_command_that_failed_is_settled_and_others_work(start_bot: StartBot) -> None:
    bot = await start_bot("Here.")
    execute(bot.home, None, "ALTER TABLE jobs RENAME TO lost")
    await bot.hears("/cron")
    execute(bot.home, None, "ALTER TABLE lost RENAME TO jobs")
    shown = len(bot.screen)

    await bot.restart()
    await bot.hears("hello")

    assert bot.screen[shown:] == ["Here."]
