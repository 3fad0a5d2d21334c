"""The guide of each platform, with everything that a newcomer can do wrong."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from gateway.connect.steps import NO, SKIP, YES, Check, Confirm, Done, Failed, Form, Listen
from gateway.settings.settings import read_settings
from gateway.upkeep.doctor.report import examine
from parley.testing.emulators.slack import SlackEmulator
from tests import connecting
from tests.connecting import PLATFORMS, Platform
from tests.gateway.connect.guiding import Guided, guided

TELEGRAM, XOXB = "TELEGRAM_BOT_TOKEN", "xoxb-1-2-wrong"


@pytest.fixture(params=PLATFORMS)
async def platform(request: pytest.FixtureRequest) -> AsyncIterator[Platform]:
    async with PLATFORMS[request.param]() as opened:
        yield opened


@pytest.fixture
async def telegram() -> AsyncIterator[Platform]:
    async with connecting.telegram() as opened:
        yield opened


@pytest.fixture
async def slack() -> AsyncIterator[Platform]:
    async with connecting.slack() as opened:
        yield opened


async def up_to_the_hello(there: Guided, platform: Platform) -> Listen:
    await there.next()
    step = await there.fill(*platform.tokens.values())
    assert isinstance(step, Listen)
    return step


async def says_hello(there: Guided, platform: Platform, name: str = "Ann") -> str:
    """Let somebody write to the bot; return their principal."""
    person = platform.emulator.person(name, language="en")
    number = there.guide.number
    await platform.emulator.private(person).says(person, "hello")
    step = await there.after(number)
    assert isinstance(step, Confirm)
    assert f"{name} wrote (`{platform.principal(person.id)}`)" in step.text
    return platform.principal(person.id)


async def test_the_whole_way_in_both_languages(tmp_path: Path, platform: Platform) -> None:
    for language in ("en", "zh"):
        home = tmp_path / language
        async with guided(home, platform.name, platform.environ, "zh" if language == "zh" else "en") as there:
            first = await there.next()
            assert isinstance(first, Form)
            assert first.link.startswith(platform.link)
            assert all(field.is_secret for field in first.fields)
            await up_to_the_hello(there, platform)
            person = platform.emulator.person("Ann", language=language)
            number, chat = there.guide.number, platform.emulator.private(person)
            await chat.says(person, "hello")
            await there.after(number)
            done = await there.answer(YES)
            assert isinstance(done, Done)
            assert any(f"PARLEY_OWNERS={platform.principal(person.id)}" in line for line in there.env.splitlines())
            await chat.until(lambda c: len(c.screen) == 1)
            assert there.guide.is_over
            shown = "".join(step.model_dump_json() for step in there.steps)
            assert [token for token in platform.tokens.values() if token in shown] == []
            assert all(there.around.secrets.are_in(token) for token in platform.tokens.values())


async def test_whoever_follows_the_link_of_the_guide_is_the_owner_without_a_question(
    tmp_path: Path, telegram: Platform
) -> None:
    async with guided(tmp_path, "telegram", telegram.environ) as there:
        listening = await up_to_the_hello(there, telegram)
        zoe, ann = (telegram.emulator.person(name, language="en") for name in ("Zoe", "Ann"))
        number = there.guide.number
        await telegram.emulator.private(zoe).says(zoe, "/start hello")  # the word of no link
        assert isinstance(await there.after(number), Confirm)
        assert isinstance(await there.answer(NO), Listen)
        number, word = there.guide.number, listening.link.partition("?start=")[2]
        assert len(word) > 16
        await telegram.emulator.private(ann).says(ann, f"/start {word}")
        assert isinstance(await there.after(number), Done)
        assert f"PARLEY_OWNERS=telegram:{ann.id}\n" in there.env


async def test_a_token_of_another_platform_or_of_no_form_is_named(tmp_path: Path, telegram: Platform) -> None:
    async with guided(tmp_path, "telegram", telegram.environ) as there:
        await there.next()
        for pasted, trouble in (
            (XOXB, "looks like a token or key of Slack, and here one of Telegram is needed"),
            ("sk-ant-api03-x", "looks like a token or key of anthropic"),
            ("what?", "does not look like a bot token"),
            ("  ''  ", "Nothing was entered"),
        ):
            step = await there.fill(pasted)
            assert isinstance(step, Form)
            assert trouble in step.fields[0].trouble
            assert trouble in await there.guide.trouble_with(0, pasted) or not pasted.strip(" '")
        assert telegram.emulator.calls == []


async def test_an_app_with_slacks_agent_view_is_another_choice_and_can_be_left_for_a_new_app(
    tmp_path: Path, slack: Platform
) -> None:
    async with guided(tmp_path, "slack", slack.environ) as there:
        usual = await there.next()
        assert isinstance(usual, Form)
        assert "cannot go back" in usual.text
        assert usual.instead is not None
        chosen = await there.answer(usual.instead.value)
        assert isinstance(chosen, Form)
        assert "agent_view" in chosen.link
        assert "agent_view" not in usual.link
        assert (chosen.instead, chosen.trouble) == (None, "")
        await up_to_the_hello(there, slack)
        await says_hello(there, slack)
        assert isinstance(await there.answer(YES), Done)
        assert "SLACK_AGENT_VIEW=true" in there.env
    async with guided(tmp_path, "slack", slack.environ) as again:
        assert isinstance(await again.next(), Confirm)
        await again.answer(YES)
        await up_to_the_hello(again, slack)
        await says_hello(again, slack)
        assert isinstance(await again.answer(YES), Done)
        assert "SLACK_AGENT_VIEW=false" in again.env


async def test_the_two_tokens_of_slack_are_told_apart(tmp_path: Path, slack: Platform) -> None:
    bot, app = slack.tokens.values()
    async with guided(tmp_path, "slack", slack.environ) as there:
        await there.next()
        step = await there.fill(app, bot)
        assert isinstance(step, Form)
        first, second = step.fields
        assert "another token, which has a field of its own: The app-level token" in first.trouble
        assert "another token, which has a field of its own: The Bot User OAuth Token" in second.trouble
        assert first.trouble == await there.guide.trouble_with(0, app)
        assert await there.guide.trouble_with(1, app) == ""
        assert await there.guide.trouble_with(7, app) == ""
        step = await there.fill(bot, "")
        assert isinstance(step, Form)
        assert [field.is_kept for field in step.fields] == [True, False]
        assert [field.trouble for field in step.fields] == ["", "Nothing was entered."]


async def test_a_rejected_token_is_asked_for_again_and_the_other_one_is_kept(tmp_path: Path, slack: Platform) -> None:
    _, app = slack.tokens.values()
    async with guided(tmp_path, "slack", slack.environ) as there:
        await there.next()
        step = await there.fill(XOXB, app)
        assert isinstance(step, Form)
        bot_field, app_field = step.fields
        assert "rejects the bot token (invalid_auth)" in bot_field.trouble
        assert "api.slack.com/apps" in bot_field.trouble
        assert (app_field.trouble, app_field.is_kept) == ("", True)
        assert isinstance(await there.fill(slack.tokens["SLACK_BOT_TOKEN"], ""), Listen)
        assert there.env == ""


async def test_each_missing_scope_is_named_with_its_place_until_it_is_there(tmp_path: Path, slack: Platform) -> None:
    scopes = cast("SlackEmulator", slack.emulator).scopes
    scopes.difference_update(("files:write", "im:history"))
    async with guided(tmp_path, "slack", slack.environ) as there:
        await there.next()
        step = await there.fill(*slack.tokens.values())
        assert isinstance(step, Check)
        problems = [each for each in step.findings if each.mark == "problem"]
        assert [each.what.partition(", ")[0] for each in problems] == [
            f"slack: the app lacks the scope {scope}" for scope in ("files:write", "im:history")
        ]
        assert all("OAuth & Permissions" in each.fix for each in problems)
        assert not step.can_wait, "without im:history it would hear nothing"
        assert isinstance(await there.answer(SKIP), Check)
        scopes.update(("files:write", "im:history"))
        assert isinstance(await there.answer(), Listen)


async def test_a_scope_of_a_part_only_can_wait_and_the_end_says_so_again(tmp_path: Path, slack: Platform) -> None:
    cast("SlackEmulator", slack.emulator).scopes.discard("files:write")
    async with guided(tmp_path, "slack", slack.environ) as there:
        await there.next()
        step = await there.fill(*slack.tokens.values())
        assert isinstance(step, Check)
        assert step.can_wait
        assert "`parley doctor` names it until it is there" in step.text
        assert isinstance(await there.answer(), Check)
        assert isinstance(await there.answer(SKIP), Listen)
        await says_hello(there, slack)
        done = await there.answer(YES)
        assert isinstance(done, Done)
        assert "Left for later: slack: the app lacks the scope files:write" in done.lines[-1]
    settings, _ = read_settings({"PARLEY_HOME": str(tmp_path), "HOME": str(tmp_path), **slack.environ}, tmp_path)
    assert any("lacks the scope files:write" in each.what for each in await examine(settings))


async def test_a_missing_intent_of_discord_is_named_with_its_place(tmp_path: Path) -> None:
    async with connecting.discord(content=False) as discord, guided(tmp_path, "discord", discord.environ) as there:
        await there.next()
        step = await there.fill(discord.tokens["DISCORD_BOT_TOKEN"])
        assert isinstance(step, Check)
        (problem,) = [each for each in step.findings if each.mark == "problem"]
        assert "Message Content Intent is off" in problem.what
        assert "discord.com/developers/applications" in problem.fix
        assert not step.can_wait


async def test_the_privacy_mode_of_telegram_is_told(tmp_path: Path) -> None:
    async with connecting.telegram(privacy=True) as telegram, guided(tmp_path, "telegram", telegram.environ) as there:
        step = await up_to_the_hello(there, telegram)
        (note,) = [each for each in step.findings if each.mark == "note"]
        assert "in groups the bot sees only mentions" in note.what
        assert "/setprivacy" in note.fix


async def test_what_is_found_is_told_in_chinese_to_a_chinese_reader(tmp_path: Path, slack: Platform) -> None:
    cast("SlackEmulator", slack.emulator).scopes.discard("files:write")
    async with guided(tmp_path, "slack", slack.environ, "zh") as there:
        await there.next()
        step = await there.fill(*slack.tokens.values())
        assert isinstance(step, Check)
        (problem,) = [each for each in step.findings if each.mark == "problem"]
        assert problem.what == "slack：应用缺少权限 files:write（发送文件）"
        assert "重新安装应用" in problem.fix


async def test_without_a_network_it_waits_until_there_is_one(tmp_path: Path, telegram: Platform) -> None:
    async with guided(tmp_path, "telegram", telegram.environ) as there:
        await there.next()
        telegram.emulator.faults.drop("getMe", times=None)
        step = await there.fill(telegram.tokens[TELEGRAM])
        assert isinstance(step, Check)
        assert "could not reach" in step.findings[0].what
        assert "check the network" in step.findings[0].fix
        telegram.emulator.faults.clear()
        assert isinstance(await there.answer(), Listen)


async def test_a_slow_platform_is_told_as_one_that_does_not_answer(tmp_path: Path, telegram: Platform) -> None:
    async with guided(tmp_path, "telegram", telegram.environ) as there:
        await there.next()
        telegram.emulator.faults.delay("getMe", seconds=20.0, times=1)
        step = await there.fill(telegram.tokens[TELEGRAM])
        assert isinstance(step, Check)
        assert "could not reach" in step.findings[0].what


async def test_a_stranger_who_writes_first_does_not_become_the_owner(tmp_path: Path, telegram: Platform) -> None:
    async with guided(tmp_path, "telegram", telegram.environ) as there:
        await up_to_the_hello(there, telegram)
        mallory = await says_hello(there, telegram, "Mallory")
        assert isinstance(await there.answer(NO), Listen)
        ann = await says_hello(there, telegram, "Ann")
        assert isinstance(await there.answer(YES), Done)
    assert f"PARLEY_OWNERS={ann}\n" in there.env
    assert mallory not in there.env


async def test_words_in_groups_make_nobody_the_owner(tmp_path: Path, telegram: Platform) -> None:
    async with guided(tmp_path, "telegram", telegram.environ) as there:
        await up_to_the_hello(there, telegram)
        mallory = telegram.emulator.person("Mallory")
        await telegram.emulator.group("team", [mallory]).says(mallory, "hello @parley_bot")
        assert isinstance(there.guide.step, Listen)
        await says_hello(there, telegram, "Ann")


async def test_owners_that_are_there_stay(tmp_path: Path, telegram: Platform) -> None:
    (tmp_path / ".env").write_text("# the boss\nPARLEY_OWNERS=slack:T1:U1, telegram:1\n")
    async with guided(tmp_path, "telegram", telegram.environ) as there:
        await up_to_the_hello(there, telegram)
        ann = await says_hello(there, telegram)
        await there.answer(YES)
    assert there.env.splitlines()[:2] == ["# the boss", f"PARLEY_OWNERS=slack:T1:U1,telegram:1,{ann}"]


async def test_owners_in_the_environment_are_not_written_over(tmp_path: Path, telegram: Platform) -> None:
    async with guided(tmp_path, "telegram", {**telegram.environ, "PARLEY_OWNERS": "telegram:1"}) as there:
        await up_to_the_hello(there, telegram)
        ann = await says_hello(there, telegram)
        done = await there.answer(YES)
    assert isinstance(done, Done)
    assert f"`PARLEY_OWNERS` is set in the environment, which wins over the file: add `{ann}`" in done.lines[1]
    assert "PARLEY_OWNERS" not in there.env


async def test_a_token_in_the_environment_would_win_and_is_named(tmp_path: Path, telegram: Platform) -> None:
    async with guided(tmp_path, "telegram", {**telegram.environ, TELEGRAM: "1:old"}) as there:
        step = await there.next()
        assert isinstance(step, Failed)
        assert f"`{TELEGRAM}` is set in the environment" in step.text


async def test_a_platform_that_is_set_up_is_replaced_only_on_demand(tmp_path: Path, telegram: Platform) -> None:
    (tmp_path / ".env").write_text(f"{TELEGRAM}=1:old\n")
    async with guided(tmp_path, "telegram", telegram.environ) as there:
        step = await there.next()
        assert isinstance(step, Confirm)
        assert f"`{TELEGRAM} in {tmp_path}/.env, line 1`" in step.text
        assert await there.answer(NO) == Done(lines=("Nothing was changed.",))
    assert there.env == f"{TELEGRAM}=1:old\n"


async def test_a_folder_in_place_of_the_file_is_told_and_tried_again(tmp_path: Path, telegram: Platform) -> None:
    async with guided(tmp_path, "telegram", telegram.environ) as there:
        await up_to_the_hello(there, telegram)
        (tmp_path / ".env").mkdir()
        await says_hello(there, telegram)
        step = await there.answer(YES)
        assert isinstance(step, Failed)
        assert "cannot be written (it is not a file)" in step.text
        (tmp_path / ".env").rmdir()
        assert isinstance(await there.answer(), Listen), "the tokens are not asked for again"


async def test_what_a_broken_setting_says_is_said_before_anything_is_written(
    tmp_path: Path, telegram: Platform
) -> None:
    async with guided(tmp_path, "telegram", telegram.environ) as there:
        await there.next()
        (tmp_path / ".env").write_text("PARLEY_BACKUPS=many\n")
        step = await there.fill(telegram.tokens[TELEGRAM])
        assert isinstance(step, Failed)
        assert "PARLEY_BACKUPS" in step.text


async def test_a_guide_that_is_left_has_written_nothing(tmp_path: Path, platform: Platform) -> None:
    async with guided(tmp_path, platform.name, platform.environ) as there:
        await up_to_the_hello(there, platform)
    assert there.env == ""
    assert there.guide.is_over
