"""How people make an app for Parley on Slack: from the manifest, which is given in the address."""

import json
from pathlib import Path
from urllib.parse import quote

from channels.checkup import Setup, Token
from channels.slack.config import APPS, CONNECTIONS

MANIFEST = Path(__file__).with_name("manifest.json")
"""Made from the table of commands by `python -m bench commands`."""


def new_app_link() -> str:
    """Return the address at which Slack makes an app from the manifest."""
    manifest = json.dumps(json.loads(MANIFEST.read_text("utf-8")), separators=(",", ":"), ensure_ascii=False)
    return f"https://{APPS}?new_app=1&manifest_json={quote(manifest, safe='')}"


SETUP = Setup(
    title="Slack",
    link=new_app_link(),
    steps={
        "en": "Choose your workspace and create the app. Under *Install App* install it: that gives the bot token. "
        f"Under *Basic Information*, *App-Level Tokens*, generate one with the scope `{CONNECTIONS}`: the app token.",
        "zh": "选择您的工作区并创建应用。在 *Install App* 中安装它，就会得到机器人令牌。"
        f"在 *Basic Information* 的 *App-Level Tokens* 中生成一个权限范围为 `{CONNECTIONS}` 的令牌，即应用令牌。",
    },
    tokens=(
        Token(
            "bot_token",
            {
                "en": "The Bot User OAuth Token, from *Install App*, which begins with `xoxb-`",
                "zh": "*Install App* 中的 Bot User OAuth Token，以 `xoxb-` 开头",
            },
        ),
        Token(
            "app_token",
            {
                "en": "The app-level token, from *Basic Information*, which begins with `xapp-`",
                "zh": "*Basic Information* 中的 app-level token，以 `xapp-` 开头",
            },
        ),
    ),
    hello={
        "en": "Open that address, or {name} under *Apps* in Slack, and write hello to it.",
        "zh": "打开该地址，或在 Slack 的 *Apps* 中打开 {name}，给它发送一句“你好”。",
    },
)
