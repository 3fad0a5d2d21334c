"""Starting Parley for Telegram: what is wrong is told in one sentence, who may speak, and what never gets out."""

from tests.emulators.model_script import says
from tests.end_to_end.program import API_KEY, Stage


async def fails_with_one_sentence(stage: Stage) -> str:
    """Start it and watch it fail: exit code 2, one line, no traceback. Returns the line."""
    await stage.program.launch()
    assert await stage.program.ended() == 2
    lines = [line for line in stage.program.console.splitlines() if line.startswith("parley: ")]
    assert len(lines) == 1
    assert "Traceback" not in stage.program.console
    return lines[0]


async def test_a_token_that_telegram_refuses(own_stage: Stage) -> None:
    own_stage.program.set("TELEGRAM_BOT_TOKEN", "4242000001:REVOKED-canary")

    line = await fails_with_one_sentence(own_stage)

    assert "Telegram refuses the bot token" in line
    assert "@BotFather" in line
    assert "REVOKED-canary" not in own_stage.program.console


async def test_a_token_that_is_none(own_stage: Stage) -> None:
    own_stage.program.set("TELEGRAM_BOT_TOKEN", "my-secret-canary")

    line = await fails_with_one_sentence(own_stage)

    assert "TELEGRAM_BOT_TOKEN" in line
    assert "my-secret-canary" not in own_stage.program.console


async def test_a_typo_in_the_settings(own_stage: Stage) -> None:
    own_stage.program.home.mkdir()
    (own_stage.program.home / "parley.toml").write_text('modle = "demo"\n')

    line = await fails_with_one_sentence(own_stage)

    assert "modle" in line
    assert "did you mean model?" in line


async def test_a_port_that_is_taken(own_stage: Stage) -> None:
    port = own_stage.telegram.url.rpartition(":")[2]
    own_stage.program.set("PARLEY_WEB", "on")
    own_stage.program.set("PARLEY_WEB_PORT", port)

    line = await fails_with_one_sentence(own_stage)

    assert port in line


async def test_a_second_one_on_the_same_home(own_stage: Stage) -> None:
    await own_stage.start()
    own_stage.script.then(says("Hello Ann."))
    ann, chat = own_stage.private("Ann")

    line = await fails_with_one_sentence(own_stage.twin())
    await chat.says(ann, "hello")

    assert "Another Parley" in line
    assert "PARLEY_HOME" in line
    await chat.until(lambda c: c.screen == ["Hello Ann."])


async def test_a_token_revoked_while_it_runs_ends_it_with_a_sentence(own_stage: Stage) -> None:
    await own_stage.start()
    own_stage.telegram.token = "4242000001:ANOTHER"  # noqa: S105
    own_stage.telegram.kill_connections()

    assert await own_stage.program.ended() == 2
    assert "Telegram refuses the bot token" in own_stage.program.console
    assert "Traceback" not in own_stage.program.console


async def test_a_stranger_hears_nothing_and_the_console_shows_the_line_that_lets_them_in(own_stage: Stage) -> None:
    own_stage.program.set("PARLEY_ALLOW", "telegram:7000000001")
    own_stage.script.then(says("Hello Ann."))
    await own_stage.start()
    ann, chat = own_stage.private("Ann")
    mallory = own_stage.stranger("Mallory")
    with_mallory = own_stage.telegram.private(mallory)

    await with_mallory.says(mallory, "let me in")
    await with_mallory.says(mallory, "/status")
    await chat.says(ann, "hello")
    await chat.until(lambda c: c.screen == ["Hello Ann."])

    assert f'allow = ["telegram:{mallory.id}", "telegram:{ann.id}"]' in own_stage.program.console.splitlines()
    assert with_mallory.everything[2:] == []
    assert with_mallory.actions == []
    assert own_stage.said == ["hello"]


async def test_the_line_from_the_console_lets_the_stranger_in(own_stage: Stage) -> None:
    own_stage.program.set("PARLEY_ALLOW", "")
    own_stage.script.then(says("Welcome."))
    mallory = own_stage.stranger("Mallory")
    chat = own_stage.telegram.private(mallory)
    await own_stage.start()

    await chat.says(mallory, "let me in")
    await own_stage.heard()
    assert await own_stage.program.terminate() == 0
    line = next(line for line in own_stage.program.console.splitlines() if line.startswith("allow = ["))
    (own_stage.program.home / "parley.toml").write_text(line)
    await own_stage.start()
    await chat.says(mallory, "and now?")

    await chat.until(lambda c: c.screen == ["Welcome."])
    assert own_stage.said == ["and now?"]


async def test_no_secret_is_in_any_log_line_even_when_everything_is_logged(own_stage: Stage) -> None:
    own_stage.program.set("PARLEY_LOG_LEVEL", "debug")
    own_stage.script.then(says(f"My key is {API_KEY[:3]}..."), says("Hello again."))
    await own_stage.start()
    ann, chat = own_stage.private("Ann")

    await chat.says(ann, "what is your key?")
    await chat.until(lambda c: len(c.screen) == 1)
    own_stage.telegram.faults.fail("sendMessage", status=502)
    own_stage.telegram.faults.fail("getUpdates", status=502)
    own_stage.telegram.kill_connections()
    await chat.says(ann, "hello")
    await chat.until(lambda c: c.screen[-1] == "Hello again.", timeout=20)
    assert await own_stage.program.terminate() == 0

    assert "post delayed" in own_stage.program.console
    assert "poll failed" in own_stage.program.console
    assert own_stage.telegram.token not in own_stage.program.console
    assert own_stage.telegram.token.partition(":")[2] not in own_stage.program.console


async def test_it_starts_without_telegram_and_answers_once_telegram_is_there(own_stage: Stage) -> None:
    own_stage.script.then(says("Hello Ann."))
    ann, chat = own_stage.private("Ann")
    own_stage.telegram.faults.drop("getMe", times=2)
    await chat.says(ann, "hello")

    await own_stage.start()

    await chat.until(lambda c: c.screen == ["Hello Ann."], timeout=20)


async def test_a_webhook_that_somebody_set_is_removed_and_nothing_lost(own_stage: Stage) -> None:
    own_stage.script.then(says("Hello Ann."))
    ann, chat = own_stage.private("Ann")
    own_stage.telegram.webhook = "https://example.org/hook"
    await chat.says(ann, "hello")

    await own_stage.start()

    await chat.until(lambda c: c.screen == ["Hello Ann."], timeout=20)
    assert own_stage.telegram.webhook == ""
