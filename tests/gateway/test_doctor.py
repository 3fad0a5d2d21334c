"""The doctor names each problem with its fix, and ignores what is not configured."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from pydantic import SecretStr

from agent_core.clock import SystemClock, new_id
from agent_core.models.providers import KeyCheck, Provider
from channels.checkup import Finding, note, ok, problem
from channels.telegram import doctor as telegram_doctor
from channels.telegram.config import Config as TelegramConfig
from gateway.security import packages
from gateway.security.secrets import Secrets
from gateway.settings.settings import Settings
from gateway.settings.web import WebSettings
from gateway.store.opening import FILE
from gateway.store.store import Store
from gateway.upkeep.doctor import home, machine
from gateway.upkeep.doctor.connections import look_at_model
from gateway.upkeep.doctor.report import MOST_LINES, examine, render
from parley.testing.emulators.server import LoopbackServer
from parley.testing.emulators.telegram import TelegramEmulator
from tests.end_to_end.forks import parley
from tests.process import python

NOBODY = "http://127.0.0.1:9"
"""The discard port, where no server listens."""


def problems(findings: list[Finding]) -> list[str]:
    return [finding.what for finding in findings if finding.mark == "problem"]


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator(privacy=True) as emulator:
        yield emulator
    assert emulator.violations == []


def config(telegram: TelegramEmulator, token: str = "") -> TelegramConfig:
    return TelegramConfig(bot_token=SecretStr(token or telegram.token), base_url=telegram.url)


# The whole report


async def test_a_newcomer_has_nothing_to_put_right(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PARLEY_WEB_PORT": "0"}
    report = await parley("doctor", cwd=tmp_path, environ=environ)

    assert report.code == 0, report.out
    assert report.out.endswith("Nothing is wrong.\n")
    assert "telegram" not in report.out.lower()
    assert not (tmp_path / ".parley").exists(), "the doctor makes nothing"


async def test_a_problem_comes_with_its_fix_and_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PARLEY_WEB=off")
    (tmp_path / ".env").chmod(0o644)

    report = await parley("doctor", cwd=tmp_path, environ={"HOME": str(tmp_path), "PARLEY_HOME": str(tmp_path)})

    assert report.code == 1
    assert f"→ chmod 600 {tmp_path}/.env\n" in report.out
    assert report.out.endswith("1 problem to put right.\n")


async def test_every_malformed_setting_is_a_problem_and_the_rest_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TELEGRAM_BOT_TOKEN=nonsense\nDISCORD_BOT_TOKEN=nonsense\nPARLEY_AUDIT=many\n")
    (tmp_path / ".env").chmod(0o600)
    environ = {"HOME": str(tmp_path), "PARLEY_HOME": str(tmp_path), "PARLEY_WEB": "off"}

    report = await parley("doctor", cwd=tmp_path, environ={**environ, "OPENAI_KEY": "sk-1"})

    assert (report.code, report.err) == (1, "")
    for line in (
        f"✗ TELEGRAM_BOT_TOKEN in {tmp_path}/.env, line 1 does not look like a bot token (1234567890:AbC...) "
        "→ copy it again from @BotFather\n",
        f"✗ DISCORD_BOT_TOKEN in {tmp_path}/.env, line 2 does not look like a bot token (three parts with dots between)"
        " → copy it again: https://discord.com/developers/applications, your application, Bot, Reset Token\n",
        f"✗ PARLEY_AUDIT in {tmp_path}/.env, line 3 must be on or off (in TOML: true or false) "
        "→ correct it, or leave it out\n",
        "· OPENAI_KEY in the environment is set and not used → did you mean OPENAI_API_KEY?\n",
        f"✓ {tmp_path} is writable\n",
    ):
        assert line in report.out
    assert report.out.endswith("3 problems to put right.\n")


async def test_a_search_that_no_start_would_take_is_a_problem(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PARLEY_WEB": "off", "PARLEY_SEARCH": "brave"}
    report = await parley("doctor", cwd=tmp_path, environ=environ)

    assert report.code == 1
    assert "✗ PARLEY_SEARCH cannot be used: searching needs a key: set BRAVE_API_KEY → " in report.out


async def test_it_never_imports_litellm(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from gateway.upkeep.doctor.report import run;"
        f"run({{'HOME': {str(tmp_path)!r}}}, Path({str(tmp_path)!r}));"
        "print('litellm' in sys.modules, 'telegram' in sys.modules)"
    )
    assert (await python("-c", code)).out.endswith("False False\n")


async def test_every_configured_channel_is_asked(telegram: TelegramEmulator, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, web=WebSettings(enabled=False), channels={"telegram": config(telegram)})
    findings = await examine(settings)

    assert ok("telegram: the bot is @parley_bot") in findings
    assert any(finding.what == "nobody may talk on telegram yet" for finding in findings)


def test_a_long_report_keeps_its_problems_and_fits_on_a_screen() -> None:
    findings = [*(ok(f"fine {number}") for number in range(40)), problem("bad", "mend it"), note("by the way")]

    text = render(findings, Secrets())

    assert len(text.splitlines()) <= MOST_LINES
    assert "✗ bad → mend it\n" in text


def test_the_report_shows_no_secret_and_one_line_for_each_finding() -> None:
    text = render([problem("the key\nsk-very-secret", "x")], Secrets(["sk-very-secret"]))

    assert text == "✗ the key [secret] → x\n1 problem to put right.\n"


# The machine


def test_an_unsupported_python_is_a_problem() -> None:
    assert problems(list(machine.python_version((3, 10, 1)))) == ["Python 3.10.1 is not supported"]
    assert problems(list(machine.python_version((3, 14, 0)))) == []


def test_our_packages_are_ours_here() -> None:
    assert list(packages.foreign_packages(packages.ROOT)) == []


async def test_a_stranger_with_one_of_our_names_is_found(tmp_path: Path) -> None:
    (tmp_path / "channels").mkdir()
    (tmp_path / "channels" / "__init__.py").touch()
    code = (
        f"from gateway.security import packages; import sys; sys.path.insert(0, {str(tmp_path)!r});"
        "sys.modules.pop('channels', None); print(*packages.foreign_packages(packages.ROOT))"
    )
    told = await python("-c", code)

    assert told.out == f'the package "channels" is not ours but that of {tmp_path}/channels\n', told.err


def test_another_distribution_with_one_of_our_names_is_found(tmp_path: Path) -> None:
    del tmp_path
    found = problems(list(machine.own_packages(packages.ROOT, {"channels": ["parley", "channels"]})))

    assert found == ['channels is installed beside Parley and also has a package "channels"']


def test_a_poisoned_litellm_is_a_problem() -> None:
    assert problems(list(machine.litellm_version("1.82.8")))
    assert problems(list(machine.litellm_version(None)))
    assert not problems(list(machine.litellm_version("1.106.2")))


def test_uvloop_is_named_where_it_is_installed() -> None:
    assert [finding.what for finding in machine.event_loop("0.22.1")] == ["the event loop is uvloop 0.22.1"]
    assert list(machine.event_loop(None)) == []


def test_a_file_that_runs_code_at_every_start_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "litellm_init.pth").write_text("import os; os.system('true')\n")
    (tmp_path / "distutils-precedence.pth").write_text("import os\n")
    (tmp_path / "path.pth").write_text("/somewhere\n")

    assert problems(list(machine.stray_pth({tmp_path}))) == [
        f"{tmp_path}/litellm_init.pth runs code at every start of Python"
    ]


# The home


def test_a_home_that_is_a_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "home").touch()

    assert problems(list(home.look_at_home(tmp_path / "home"))) == [
        f"{tmp_path}/home is a file where a folder has to be"
    ]


async def test_a_store_in_use_is_sound_and_its_holder_is_named(tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id):
        holder = home.running(tmp_path)
        findings = list(home.look_at_home(tmp_path))

    assert holder == f"pid {os.getpid()}"
    assert any(finding.what.startswith(f"{FILE} is sound") for finding in findings)
    assert home.running(tmp_path) is None


def test_a_damaged_store_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database at all, " * 100)

    (found,) = problems(list(home.check_store(tmp_path)))

    assert found == f"{tmp_path / FILE} is damaged (file is not a database)"


def test_a_store_of_a_later_version_is_a_problem(tmp_path: Path) -> None:
    store = sqlite3.connect(tmp_path / FILE)
    store.execute("PRAGMA user_version = 999")
    store.close()

    (found,) = problems(list(home.check_store(tmp_path)))

    assert found.startswith(f"{tmp_path / FILE} has schema 999, and this Parley knows ")


def test_a_folder_in_the_place_of_the_store_is_a_problem_and_not_damage(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()

    assert problems(list(home.check_store(tmp_path))) == [f"{tmp_path / FILE} is no file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
@pytest.mark.parametrize("name", [FILE, "store.lock", "workspaces"])
def test_what_belongs_to_another_user_is_a_problem(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    (tmp_path / name).chmod(0o400)

    assert problems(list(home.look_at_files(tmp_path))) == [f"{tmp_path / name} cannot be read and written"]


async def test_a_taken_port_is_a_problem_unless_parley_has_it() -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    assert problems(list(home.look_at_page(WebSettings(port=port), None))) == [
        f"page: port {port} is taken by another program"
    ]
    assert not problems(list(home.look_at_page(WebSettings(port=port), "pid 1")))

    server.close()
    await server.wait_closed()
    assert not problems(list(home.look_at_page(WebSettings(port=port), None)))


# The model


class Models(LoopbackServer):
    """A provider's list of models, for one valid key."""

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/models", self._models), web.get("/elsewhere", self._elsewhere)]

    async def _elsewhere(self, _: web.Request) -> web.Response:
        raise AssertionError("the key was taken to another address")

    async def _models(self, request: web.Request) -> web.Response:
        if request.headers.get("x-api-key") == "moved":
            return web.Response(status=307, headers={"Location": f"{self.url}/elsewhere"})
        if request.headers.get("x-api-key") == "from elsewhere":
            return web.json_response({"error": {"code": "unsupported_country_region_territory"}}, status=403)
        return web.Response(status=200 if request.headers.get("x-api-key") == "good" else 401)


async def ask(tmp_path: Path, key: str, url: str) -> Finding:
    settings = Settings(model="anthropic/x", home=tmp_path, environ={"ANTHROPIC_API_KEY": key})
    (found,) = await look_at_model(settings, [Provider("anthropic", (), "x", check=KeyCheck(url, ("x-api-key", "{}")))])
    return found


async def test_a_provider_is_asked_whether_it_takes_the_key(tmp_path: Path) -> None:
    async with Models() as provider:
        good = await ask(tmp_path, "good", f"{provider.url}/models")
        bad = await ask(tmp_path, "bad", f"{provider.url}/models")
        elsewhere = await ask(tmp_path, "from elsewhere", f"{provider.url}/models")
        moved = await ask(tmp_path, "moved", f"{provider.url}/models")

    assert good.what.endswith("its server answers")
    assert (bad.mark, bad.fix) == ("problem", "replace the key by a valid one")
    assert elsewhere.mark == "problem"
    assert (moved.mark, moved.what.endswith("whose server redirects to another address")) == ("note", True)
    assert elsewhere.what.endswith("whose provider does not serve the place where Parley runs")


async def test_a_provider_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    found = await ask(tmp_path, "good", f"{NOBODY}/models")

    assert found.mark == "problem"
    assert found.what.endswith("but Parley could not reach 127.0.0.1:9")


async def test_a_model_without_its_key_is_a_problem(tmp_path: Path) -> None:
    (found,) = await look_at_model(Settings(model="anthropic/x", home=tmp_path))

    assert found == problem("no model can be chosen", 'The model "anthropic/x" needs a key: set ANTHROPIC_API_KEY.')


# Telegram


async def test_telegram_privacy_mode_is_a_note(telegram: TelegramEmulator) -> None:
    findings = (await telegram_doctor.look(config(telegram))).findings

    assert [finding.mark for finding in findings] == ["ok", "note"]
    assert "/setprivacy" in findings[1].fix


async def test_a_telegram_webhook_is_pointed_out(telegram: TelegramEmulator) -> None:
    telegram.webhook = "https://elsewhere.example/hook"

    findings = (await telegram_doctor.look(config(telegram))).findings

    assert "telegram: the bot has a webhook at elsewhere.example" in [finding.what for finding in findings]


async def test_a_refused_telegram_token_is_a_problem(telegram: TelegramEmulator) -> None:
    findings = (await telegram_doctor.look(config(telegram, "1:wrong"))).findings

    assert problems(list(findings)) == ["telegram: the token is rejected"]


async def test_a_telegram_that_cannot_be_reached_is_a_problem() -> None:
    unreachable = TelegramConfig(bot_token=SecretStr("1:AbCdEfGhIj"), base_url=NOBODY)

    findings = (await telegram_doctor.look(unreachable)).findings

    assert problems(list(findings)) == [f"telegram: could not reach {NOBODY}"]
    assert "AbCdEfGhIj" not in repr(findings)
