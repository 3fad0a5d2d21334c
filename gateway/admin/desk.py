"""The running gateway as the admin pages use it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import Struct, field

from channels.attachments import Attachment
from channels.base import Accepted, ChatKey, RequestMade, Sender
from channels.web.attachments import Uploads
from gateway.admin.screen import Badge, Feed, Screen
from gateway.admin.templates import Templates
from gateway.chat.replies import Answer
from gateway.permissions.access import Access
from gateway.records.plugin_failures import PluginFailures
from gateway.texts.say import Language

Permit = Callable[[RequestMade], Awaitable[Accepted]]
Run = Callable[[Sender, ChatKey, str, Sequence[Attachment]], Awaitable[Answer]]
"""Runs a command line such as `/role telegram:42 member` on behalf of a visitor, in a chat, with files."""


class CommandRefused(Exception):
    """The line is no command, or the visitor may not give it. The message is the key of a text."""


class Desk(Struct, frozen=True):
    """Screens, and what they share. Every change made on a screen is a command, run by `run`."""

    screens: Sequence[Screen]
    templates: Templates
    permit: Permit
    run: Run
    uploads: Uploads
    """Files that come with a form."""
    access: Access
    person: str
    """Name of the person at this machine."""
    language: Language
    """Language for browsers that ask for none that is known."""
    badges: Mapping[str, Badge] = field(default_factory=dict)
    """By the name of the screen."""
    suppliers: Mapping[str, str] = field(default_factory=dict)
    """The plugins that have added screens, by the name of the screen."""
    failures: PluginFailures = field(default_factory=PluginFailures)
    """Those of the plugins."""
    feeds: Mapping[str, Feed] = field(default_factory=dict)
    """By name: what scripts ask for, at /admin/api/NAME."""

    def screen(self, name: str) -> Screen | None:
        return next((each for each in self.screens if each.name == name), None)
