"""The screen of settings: values with their places, secrets hidden, changes with their history."""

import re
from pathlib import Path

import pytest
from aiohttp import ClientSession

from gateway.admin.setting_words import shown_title
from gateway.settings.run_time import all_names, changeable
from gateway.settings.settings import load_settings
from gateway.texts.say import Language
from gateway.texts.setting_titles import TITLES, TOPICS
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_pages import act

TOKEN = "12345:AAAAbbbbCCCCddddEEEEffffGGGGhhhhIII"  # noqa: S105


async def topics(client: ClientSession, language: str = "en") -> str:
    """Return all topics of the screen."""
    texts = []
    for topic in TOPICS:
        async with client.get(f"/admin/settings?topic={topic}", headers={"Accept-Language": language}) as answer:
            texts.append(await answer.text())
    return "\n".join(texts)


async def test_every_setting_is_in_a_topic_and_those_that_may_change_have_a_form(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        text = await topics(client)
        for name in all_names():
            assert f"<code>{name}</code>" in text
            assert (f'value="/config set {name}"' in text) is (name in changeable()), name
        async with client.get("/admin/settings?topic=none") as answer:
            assert answer.status == 404


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_setting_is_only_the_name_of_a_variable(language: Language) -> None:
    """Those without a title of their own are named by what their descriptions begin with."""
    assert TITLES.keys() <= {*all_names()}, "titles of settings that are gone"
    for name in all_names():
        title = shown_title(name, language)
        assert title
        assert "_" not in title
        assert re.search("[\u4e00-\u9fff]", title) is not None or language == "en", title


async def test_a_chinese_reader_is_told_in_chinese_what_each_is(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        text = await topics(client, "zh-CN")
        assert "标准错误输出上的日志级别" in text
        assert "Level of the log" not in text


async def test_places_are_named_and_secrets_and_passwords_are_hidden(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        f"TELEGRAM_BOT_TOKEN={TOKEN}\nPARLEY_KEEP_DAYS=44\nOPENAI_BASE_URL=http://me:hunter2hunter2@127.0.0.1:9/v1\n"
    )
    (tmp_path / ".env").chmod(0o600)
    loaded = load_settings({"PARLEY_HOME": str(tmp_path)}, tmp_path)
    async with (
        admin_world(tmp_path, loaded=loaded, secrets=loaded.secrets) as world,
        world.client() as client,
    ):
        text = await topics(client)
        assert TOKEN not in text
        assert "hunter2" not in text
        assert "set (hidden)" in text
        assert f"PARLEY_KEEP_DAYS in {tmp_path}/.env, line 2" in text
        assert "default: 30" in text
        async with client.get("/admin/settings", headers={"Accept-Language": "zh-CN"}) as chinese:
            text = await chinese.text()
        assert f"{tmp_path}/.env 第 2 行的 PARLEY_KEEP_DAYS" in text
        assert ", line " not in text


async def test_a_setting_is_changed_and_reset_with_its_history(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        current = world.bot.made.base.current
        assert "60" in await act(client, "/config set keep_days", "60")
        assert current.now.keep_days == 60
        assert "no value for" in await act(client, "/config set keep_days", "-3")
        assert current.now.keep_days == 60
        await world.bot.made.base.audit.close()
        async with client.get("/admin/settings") as answer:
            text = await answer.text()
            assert "set by web:local," in text
            assert "<td>30 → 60</td>" in text
            assert 'value="/config reset keep_days"' in text


@pytest.mark.parametrize(
    ("words", "found", "not_found"), [("keep_days", "keep_days", "timezone"), ("zz9", "", "model")]
)
async def test_settings_are_found_by_words(tmp_path: Path, words: str, found: str, not_found: str) -> None:
    async with (
        admin_world(tmp_path) as world,
        world.client() as client,
        client.get("/admin/settings", params={"q": words}) as answer,
    ):
        text = await answer.text()
        assert (f"<code>{found}</code>" if found else "No setting has these words.") in text
        assert f"<code>{not_found}</code>" not in text


async def test_words_of_attackers_are_shown_as_they_are_written(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        answer = await act(client, "/config set ai_name", "<img src=x onerror=alert(1)>")
        assert "<img" not in answer
        async with client.get("/admin/settings") as page:
            text = await page.text()
            assert "&lt;img src=x" in text
            assert "<img src=x" not in text
