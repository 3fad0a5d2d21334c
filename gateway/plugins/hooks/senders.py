"""The programs that send events: how each signs them, which event it is, and what is told of it by default.

What tells two deliveries apart are keys, and an event that has one that came before is a repetition. Ids of deliveries
count for good. Where the id is not signed, whoever has caught a request could repeat it under another one, so what is
signed counts as well: for good, where each event of the sender differs from every other; else for ten minutes. Senders
repeat what was not answered within seconds or minutes, while an alarm that reads the same an hour later is news.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from gateway.plugins.hooks.content import Content, clean

FOR_GOOD = float("inf")
WINDOW = 600.0
"""Seconds in which the same words are the same delivery, if nothing else tells them apart."""
TOLERANCE = 300.0
"""Seconds by which the time in a signature may differ from ours."""
LONGEST_TIME = 15
"""Digits of a time."""
LONGEST_KIND = 100
"""Characters of the name of an event."""
MOST_SIGNATURES = 10
_BEGINS_WITH_TIME = re.compile(rb"\d+:")
"""Begins what Grafana signs with a time, which a body without one could otherwise be."""
STANDARD_KEY = "whsec_"


class Sent(Struct, frozen=True):
    """A request, as it came."""

    headers: Mapping[str, str]
    body: bytes
    now: float


class Key(Struct, frozen=True):
    """Something by which a delivery is known, and for how many seconds."""

    name: str
    seconds: float = FOR_GOOD


class Sender(Struct, frozen=True):
    """One kind of programs that send events.

    Attributes:
        name: Its name in commands.
        is_genuine: Returns True if a request is signed with the secret, and not too old.
        keys: Returns what its deliveries are known by.
        kind: Returns the name of the event.
        template: What is told by default; empty for the beginning of what was sent.
        own_secret: It makes the secret itself, which people give to Parley.
        to_do: The text that says what to enter at the sender.
    """

    name: str
    is_genuine: Callable[[str, Sent], bool]
    keys: Callable[[Sent, Content], Sequence[Key]]
    kind: Callable[[Sent, Content], str]
    to_do: str
    template: str = ""
    own_secret: bool = False


def _same(one: str, other: str) -> bool:
    """Compare in a time that does not depend on the words."""
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def _hmac(secret: str | bytes, *parts: bytes) -> bytes:
    key = secret.encode() if isinstance(secret, str) else secret
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def _digest(words: bytes) -> str:
    return hashlib.sha256(words).hexdigest()[:32]


def _is_fresh(stamp: str, now: float) -> bool:
    return stamp.isascii() and stamp.isdecimal() and len(stamp) <= LONGEST_TIME and abs(now - int(stamp)) <= TOLERANCE


def _header(name: str) -> Callable[[Sent, Content], str]:
    return lambda sent, _: clean(sent.headers.get(name, ""))[:LONGEST_KIND]


def _field(path: str) -> Callable[[Sent, Content], str]:
    return lambda _, content: str(content.at(path) or "")[:LONGEST_KIND]


def _by_words(sent: Sent, _: Content) -> list[Key]:
    return [Key(f"words:{_digest(sent.body)}", WINDOW)]


def _by_id(name: str, otherwise: Callable[[Sent, Content], list[Key]]) -> Callable[[Sent, Content], list[Key]]:
    def keys(sent: Sent, content: Content) -> list[Key]:
        found = sent.headers.get(name, "")
        return [Key(f"id:{_digest(found.encode('utf-8', 'replace'))}")] if found else otherwise(sent, content)

    return keys


# GitHub


def _of_github(secret: str, sent: Sent) -> bool:
    return _same(f"sha256={_hmac(secret, sent.body).hex()}", sent.headers.get("X-Hub-Signature-256", ""))


def _keys_of_github(sent: Sent, content: Content) -> list[Key]:
    named = _by_id("X-GitHub-Delivery", lambda *_: [])(sent, content)
    return [*named, Key(f"words:{_digest(sent.body)}")]  # no header is signed


# GitLab


def _of_gitlab(secret: str, sent: Sent) -> bool:
    return _same(secret, sent.headers.get("X-Gitlab-Token", ""))


# Grafana


def _of_grafana(secret: str, sent: Sent) -> bool:
    stamp = sent.headers.get("X-Grafana-Alerting-Timestamp", "")
    if not _is_fresh(stamp, sent.now) if stamp else _BEGINS_WITH_TIME.match(sent.body):
        return False
    signed = _hmac(secret, f"{stamp}:".encode() if stamp else b"", sent.body).hex()
    return _same(signed, sent.headers.get("X-Grafana-Alerting-Signature", ""))


# Stripe


def _of_stripe(secret: str, sent: Sent) -> bool:
    parts = [part.strip().partition("=") for part in sent.headers.get("Stripe-Signature", "").split(",")]
    stamp = next((value for name, _, value in parts if name == "t"), "")
    signatures = [value for name, _, value in parts if name == "v1"][:MOST_SIGNATURES]
    if not _is_fresh(stamp, sent.now):
        return False
    signed = _hmac(secret, f"{stamp}.".encode(), sent.body).hex()
    return any(_same(signed, each) for each in signatures)


def _keys_of_stripe(sent: Sent, content: Content) -> list[Key]:
    found = content.at("id")
    return [Key(f"id:{_digest(found.encode())}")] if isinstance(found, str) and found else _by_words(sent, content)


# Standard Webhooks, which Svix and many others send


def _of_standard(secret: str, sent: Sent) -> bool:
    name, stamp = sent.headers.get("webhook-id", ""), sent.headers.get("webhook-timestamp", "")
    try:
        key = base64.b64decode(secret.removeprefix(STANDARD_KEY), validate=True)
    except (binascii.Error, ValueError):
        key = secret.encode()
    if not name or not _is_fresh(stamp, sent.now):
        return False
    signed = base64.b64encode(_hmac(key, f"{name}.{stamp}.".encode("utf-8", "replace"), sent.body)).decode()
    given = sent.headers.get("webhook-signature", "").split()[:MOST_SIGNATURES]
    return any(_same(f"v1,{signed}", each) for each in given)


# Any other program


def _of_others(secret: str, sent: Sent) -> bool:
    scheme, _, given = sent.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and _same(secret, given.strip())


SENDERS: Mapping[str, Sender] = {
    sender.name: sender
    for sender in (
        Sender(
            "github",
            _of_github,
            _keys_of_github,
            _header("X-GitHub-Event"),
            "hooks_next_github",
            "**GitHub: {{event}}** {{action}} · {{repository.full_name}} · {{sender.login}}\n"
            "{{head_commit.message}} · {{pull_request.title}} · {{issue.title}} · {{release.name}} · "
            "{{workflow_run.name}} · {{workflow_run.head_branch}} · {{workflow_run.conclusion}}\n"
            "{{head_commit.url}} {{pull_request.html_url}} {{issue.html_url}} {{release.html_url}} "
            "{{workflow_run.html_url}}",
        ),
        Sender(
            "gitlab",
            _of_gitlab,
            _by_id("Idempotency-Key", _by_words),
            _field("object_kind"),
            "hooks_next_gitlab",
            "**GitLab: {{event}}** {{object_attributes.action}} · {{project.path_with_namespace}} · {{user_name}}\n"
            "{{object_attributes.title}} · {{object_attributes.ref}} · {{object_attributes.status}}\n"
            "{{object_attributes.url}}",
        ),
        Sender("grafana", _of_grafana, _by_words, _field("status"), "hooks_next_grafana", "**{{title}}**\n{{message}}"),
        Sender(
            "stripe",
            _of_stripe,
            _keys_of_stripe,
            _field("type"),
            "hooks_next_stripe",
            "**Stripe: {{event}}** · {{data.object.id}} {{data.object.amount}} {{data.object.currency}}",
            own_secret=True,
        ),
        Sender("standard", _of_standard, _by_id("webhook-id", _by_words), _field("type"), "hooks_next_standard"),
        Sender("other", _of_others, _by_id("Idempotency-Key", _by_words), _header("X-Event"), "hooks_next_other"),
    )
}
