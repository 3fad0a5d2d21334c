"""Channels are found without importing their SDKs, and opened on demand."""

from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr

from channels import discovery
from channels.telegram.config import Config as TelegramConfig
from tests.process import python

PLUGIN = {
    "parley_irc/__init__.py": "",
    "parley_irc/config.py": (
        "from pydantic import BaseModel, SecretStr\nclass Config(BaseModel):\n    password: SecretStr\n"
    ),
    "parley_irc/adapter.py": (
        "def open_channel(config, now):\n    return f'irc as {config.password.get_secret_value()} at {now()}'\n"
    ),
    "parley_irc-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: parley-irc\nVersion: 1.0\n",
    "parley_irc-1.0.dist-info/entry_points.txt": "[parley.channels]\nirc = parley_irc\ntelegram = parley_irc\n",
}


class Open(BaseModel):
    nick: str = "parley"


class Guarded(BaseModel):
    name: str
    spare: SecretStr = SecretStr("")
    token: SecretStr


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """An installed channel of a third party."""
    for name, text in PLUGIN.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


async def test_our_channels_are_found_without_their_sdk() -> None:
    code = (
        "import sys; from channels import discovery; print(*discovery.configs());"
        "print([name for name in ('telegram', 'slack_bolt', 'discord', 'aiohttp') if name in sys.modules])"
    )
    output = (await python("-c", code)).out.splitlines()

    assert "telegram" in output[0].split()
    assert output[1] == "[]"


def test_the_required_secret_tells_whether_a_channel_is_wanted() -> None:
    assert discovery.required_secret(TelegramConfig) == "bot_token"
    assert discovery.required_secret(Guarded) == "token"
    assert discovery.required_secret(Open) is None


async def test_a_channel_from_another_package_is_found_and_opened(plugin: Path) -> None:
    code = (
        f"import sys; sys.path.append({str(plugin)!r}); from channels import discovery;"
        "config = discovery.configs()['irc'](password='pw');"
        "print(discovery.configs()['telegram'].__module__);"
        "print(discovery.open_channel('irc', config, lambda: 7.5))"
    )
    output = (await python("-c", code)).out.splitlines()

    assert output == ["channels.telegram.config", "irc as pw at 7.5"], "and ours cannot be replaced"


async def test_a_channel_without_a_doctor_finds_nothing() -> None:
    assert await discovery.check("web", Open()) == ()
