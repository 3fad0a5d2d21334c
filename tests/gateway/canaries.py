"""Canaries: a secret for every kind of setting, the forms in which it may leave, and the search for it."""

import base64
import json
import random
import re
import string
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from gateway.settings.settings import Settings, load_settings

_CHANCE = random.Random(20)  # noqa: S311 - the same canaries in each run
_LETTERS = string.ascii_letters + string.digits


def _made(count: int, more: str = "") -> str:
    return "".join(_CHANCE.choices(_LETTERS + more, k=count))


TELEGRAM, PROVIDER, MCP = f"1234567890:{_made(35, '-_')}", f"sk-ant-{_made(40, '-_')}", f"gh+{_made(30, '+/')}"
ENVIRON = {
    "ANTHROPIC_API_KEY": PROVIDER,
    "WEATHER_PAT": MCP,
    "HTTPS_PROXY": f"http://ann:{_made(24)}@proxy.example:3128",
    "DATABASE_PASSWORD": f'{_made(12)}"{_made(6)} {_made(6)}\\<&>ö{_made(6)}',
}
DOTENV = {
    "SLACK_BOT_TOKEN": f"xoxb-111111111111-222222222222-{_made(24)}",
    "SLACK_APP_TOKEN": f"xapp-1-A0123456789-333333333333-{_made(48)}",
    "DISCORD_BOT_TOKEN": f"{base64.b64encode(b'123456789012345678').decode()}.{_made(6)}.{_made(38, '-_')}",
}
VALUES = (
    TELEGRAM,
    *(value.partition("ann:")[2].partition("@")[0] or value for value in ENVIRON.values()),
    *DOTENV.values(),
)
"""All secrets that must not leave."""


def plant(folder: Path) -> Settings:
    """Write the secrets to the environment, `.env` and `parley.toml`."""
    (folder / "parley.toml").write_text(f'[telegram]\nbot_token = "{TELEGRAM}"\n')
    (folder / ".env").write_text("".join(f"{name}='{value}'\n" for name, value in DOTENV.items()))
    for file in ("parley.toml", ".env"):
        (folder / file).chmod(0o600)
    return load_settings({"HOME": str(folder), "PARLEY_HOME": str(folder), **ENVIRON}, folder)


def _base64(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def _in_base64(before: str, value: str) -> str:
    """Return the part of a value's base64 form that does not depend on its surroundings."""
    encoded = _base64(f"{before}{value}")
    return encoded[(len(before) * 4 + 2) // 3 + 1 : (len(f"{before}{value}".encode()) * 4) // 3 - 1]


Form = Callable[[str], str]
FORMS: Mapping[str, Form] = {
    "raw": lambda value: value,
    "base64": _base64,
    "base64 for urls": lambda value: _base64(value).replace("+", "-").replace("/", "_").rstrip("="),
    "base64 of more": lambda value: _base64(f"token={value}!"),
    "base64 of still more": lambda value: _base64(f"tokens={value}"),
    "base64 in lines": lambda value: base64.encodebytes(f"{'.' * 40}{value}".encode()).decode(),
    "hex": lambda value: value.encode().hex(),
    "hex in capitals": lambda value: value.encode().hex().upper(),
    "hex in pairs": lambda value: value.encode().hex(" "),
    "url": lambda value: quote(value, safe=""),
    "every byte quoted": lambda value: "".join(f"%{byte:02X}" for byte in value.encode()),
    "path": quote,
    "json": lambda value: json.dumps({"key": value}),
    "spaced": " ".join,
}
_NEEDLES: Mapping[str, Form] = {
    **{name: form for name, form in FORMS.items() if " of " not in name and name not in ("base64 in lines", "json")},
    "json": lambda value: json.dumps(value)[1:-1],
    "base64 of more": lambda value: _in_base64("token=", value),
    "base64 of still more": lambda value: _in_base64("tokens=", value),
    "base64 in lines": lambda value: _in_base64("." * 40, value),
    "the first half": lambda value: value[: max(16, len(value) // 2)],
}
_BETWEEN = re.compile(r"[\s\\]+")


def found(texts: Iterable[str]) -> set[tuple[str, str]]:
    """Return the values found, each with its form; line breaks and escapes do not hide one."""
    needles = [
        (value, name, _BETWEEN.sub("", form(value)).rstrip("=")) for value in VALUES for name, form in _NEEDLES.items()
    ]
    seen = _BETWEEN.sub("", "\x00".join(texts))
    return {(value, name) for value, name, needle in needles if needle in seen}
