"""The steps by which people make an app for Parley on Slack, from the manifest that the address holds."""

import json
from pathlib import Path
from urllib.parse import quote

from pydantic import JsonValue

from channels.checkup import Setup, Token, Variant
from channels.slack.config import APPS, CONNECTIONS, EVENTS
from channels.slack.interactions import ENGLISH

Json = dict[str, JsonValue]
MANIFEST = Path(__file__).with_name("manifest.json")
"""Made from the table of commands by `python -m bench commands`."""


def manifest() -> Json:
    """Return the manifest of an app with the assistant's pane."""
    found: Json = json.loads(MANIFEST.read_text("utf-8"))
    return found


def with_agent_view(usual: Json) -> Json:
    """Return the manifest of an app with the agent view instead, where each message begins a conversation."""
    features, settings = dict(_object(usual, "features")), dict(_object(usual, "settings"))
    pane = _object(features, "assistant_view")
    del features["assistant_view"]
    prompts: list[JsonValue] = [{"title": title, "message": words} for title, words in ENGLISH.prompts]
    features["agent_view"] = {"agent_description": pane["assistant_description"], "suggested_prompts": prompts}
    events: list[JsonValue] = [*sorted({*EVENTS, "agent_session_stopped"} - {"assistant_thread_started"})]
    settings["event_subscriptions"] = {"bot_events": events}
    return {**usual, "features": features, "settings": settings}


def new_app_link(wanted: Json) -> str:
    """Return the address at which Slack makes an app from a manifest."""
    packed = json.dumps(wanted, separators=(",", ":"), ensure_ascii=False)
    return f"https://{APPS}?new_app=1&manifest_json={quote(packed, safe='')}"


def _object(parent: Json, name: str) -> Json:
    found = parent[name]
    if not isinstance(found, dict):
        raise TypeError(f"{name} is no object")
    return found


SETUP = Setup(
    title="Slack",
    link=new_app_link(manifest()),
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
        "en": "Open the link, or {name} under *Apps* in Slack, and write hello to it.",
        "zh": "打开链接，或在 Slack 的 *Apps* 中打开 {name}，给它发送一句“你好”。",
    },
    variant=Variant(
        word="agent",
        label={"en": "Agent view", "zh": "Agent view"},
        about={
            "en": "Or choose Slack's newer *agent view* for the app: each message to it begins a conversation of its "
            "own, which is answered in its thread. **An app that has it cannot go back.** For that, choose *Agent "
            "view* or write `agent` in place of the token: you get another link.",
            "zh": "也可以为应用选择 Slack 较新的 *agent view*：每条发给它的消息都开始一个新的对话，"
            "在该消息的消息列中回答。**应用启用后无法改回。**"
            "如需启用，请选择 *Agent view*，或输入 `agent` 代替令牌，会得到另一个链接。",
        },
        link=new_app_link(with_agent_view(manifest())),
        field="agent_view",
    ),
)
