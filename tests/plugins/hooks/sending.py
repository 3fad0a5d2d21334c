"""Programs that send events to webhooks, each signed as it does."""

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway.plugins.hooks.settings import HooksSettings
from gateway.web.route import Answer
from tests.gateway.bot import Bot

_SHOWN = re.compile(r"/hooks/(?P<address>[0-9a-f]{32})`.*?(?:show only now: `(?P<secret>[^`]+)`|$)", re.DOTALL)


@dataclass(frozen=True)
class Hook:
    """A webhook as its sender knows it."""

    sender: str
    address: str
    secret: str


Headers = dict[str, str]
Sign = Callable[[str, bytes, float], Headers]


def _hex(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def of_github(secret: str, body: bytes, _: float) -> Headers:
    return {"X-Hub-Signature-256": f"sha256={_hex(secret, body)}", "X-GitHub-Event": "push"}


def of_gitlab(secret: str, _: bytes, __: float) -> Headers:
    return {"X-Gitlab-Token": secret}


def of_grafana(secret: str, body: bytes, now: float) -> Headers:
    stamp = str(int(now))
    signed = _hex(secret, f"{stamp}:".encode() + body)
    return {"X-Grafana-Alerting-Timestamp": stamp, "X-Grafana-Alerting-Signature": signed}


def of_grafana_without_time(secret: str, body: bytes, _: float) -> Headers:
    return {"X-Grafana-Alerting-Signature": _hex(secret, body)}


def of_stripe(secret: str, body: bytes, now: float) -> Headers:
    stamp = str(int(now))
    old = "0" * 64
    return {"Stripe-Signature": f"t={stamp},v1={old},v1={_hex(secret, f'{stamp}.'.encode() + body)},v0=x"}


def of_standard(secret: str, body: bytes, now: float) -> Headers:
    key, name, stamp = base64.b64decode(secret.removeprefix("whsec_")), "msg_1", str(int(now))
    signed = hmac.new(key, f"{name}.{stamp}.".encode() + body, hashlib.sha256).digest()
    signature = base64.b64encode(signed).decode()
    return {"webhook-id": name, "webhook-timestamp": stamp, "webhook-signature": f"v1,xxx v1,{signature}"}


def of_others(secret: str, _: bytes, __: float) -> Headers:
    return {"Authorization": f"Bearer {secret}"}


SIGN: Mapping[str, Sign] = {
    "github": of_github,
    "gitlab": of_gitlab,
    "grafana": of_grafana,
    "stripe": of_stripe,
    "standard": of_standard,
    "other": of_others,
}


def limited(**limits: int) -> dict[str, object]:
    """Return the settings of a bot whose webhooks have these limits."""
    return {"plugin": {"hooks": HooksSettings(**limits)}}


def shown_in(text: str, sender: str = "other") -> Hook:
    """Return the webhook whose address and secret a message shows."""
    found = _SHOWN.search(text)
    assert found, text
    return Hook(sender, found["address"], found["secret"] or "")


async def added(bot: Bot, sender: str = "other", name: str = "builds", by: str = "ann") -> Hook:
    """Set a webhook in a direct chat."""
    await bot.hears(f"/hook add {name} {sender}", sender=by)
    hook = shown_in(bot.screen[-1], sender)
    if sender == "stripe":
        hook = Hook(sender, hook.address, "whsec_of_stripe_123")
        await bot.hears(f"/hook secret {name} {hook.secret}", sender=by)
    return hook


async def sent(
    bot: Bot, hook: Hook, body: object, headers: Headers | None = None, *, sign: Sign | None = None, at: float = 0.0
) -> Answer:
    """Send a body: bytes as they are, anything else as JSON."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    signed = (sign or SIGN[hook.sender])(hook.secret, raw, at or time.time())
    answer = await bot.requests("/hooks", "POST", raw, name=hook.address, headers={**signed, **(headers or {})})
    await bot.app.settled()
    return answer
