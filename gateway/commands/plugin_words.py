"""The words in which owners are told of a plugin, in chats and on the page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field

from channels.text import literal
from gateway.permissions.installed_plugins import Content
from gateway.permissions.rights import OTHERWISE, Does, Right
from gateway.permissions.roles import Role
from gateway.records.plugin_failures import PluginFailure
from gateway.texts.plugin_reasons import reason_in
from gateway.texts.say import Language, say


class State(StrEnum):
    """The state of a plugin since this start."""

    ON = "on"
    OFF = "off"
    CHANGED = "changed"
    """Its installed files are not the approved ones."""
    LEFT_OUT = "left_out"
    NOT_NAMED = "not_named"
    """It is installed, and the settings do not name it."""


_SAID = {
    State.ON: "plugins_on",
    State.OFF: "plugins_off",
    State.CHANGED: "plugins_changed",
    State.LEFT_OUT: "plugins_left_out",
    State.NOT_NAMED: "plugins_not_named",
}
_ABSENT = {
    State.OFF: "plugin_command_off",
    State.CHANGED: "plugin_command_changed",
    State.LEFT_OUT: "plugin_command_left_out",
}
MOMENTS = {
    "before_call": "plugins_before_call",
    "hold": "plugins_hold",
    "hear": "plugins_hear",
    "prompt": "plugins_prompt",
    "read": "plugins_read",
    "summarised": "plugins_summarised",
    "reacted": "plugins_reacted",
    "moved": "plugins_moved",
    "ended": "plugins_ended",
    "sent": "plugins_sent",
    "erased": "plugins_erased",
}
"""The moments of which owners are told that a plugin takes part, each with its words."""
_DOES: Mapping[Does, str] = {
    "talk": "plugins_does_talk",
    "read": "plugins_does_read",
    "write": "plugins_does_write",
    "net": "plugins_does_net",
    "exec": "plugins_does_exec",
    "admin": "plugins_does_admin",
}
_FOR = {
    Role.OWNER: "plugins_for_owners",
    Role.ADMIN: "plugins_for_admins",
    Role.MEMBER: "plugins_for_members",
    Role.GUEST: "plugins_for_all",
}
_OTHERS = {OTHERWISE: "…"}
"""Stands for all other arguments."""


class Added(Struct, frozen=True):
    """A command or a tool that a plugin adds, with its rights."""

    name: str
    """As people are shown it, such as `/dice`."""
    forms: Mapping[str, Right]
    """What its forms do, and who may give them; those of a tool have no roles. Empty if it was not made."""
    is_untrusted: bool = False
    """True for a tool whose results may be untrusted input."""


class ListedPlugin(Struct, frozen=True):
    """A plugin, as owners are shown it."""

    name: str
    state: State
    is_ours: bool
    content: Content | None = None
    """The files of one of others at the start; None if they were not looked at."""
    installed: Content | None = None
    """The files installed of it now; None if they cannot be read."""
    reason: str = ""
    """Why it is left out."""
    commands: Sequence[Added] = ()
    tools: Sequence[Added] = ()
    presses: Sequence[Added] = ()
    moments: Sequence[str] = ()
    """The names of those of `MOMENTS` in which it takes part."""
    owed: Sequence[str] = ()
    """The kinds of what chats are owed that it does."""
    duties: Sequence[str] = ()
    screens: Sequence[str] = ()
    settings: Sequence[str] = ()
    """The names of their variables."""
    models: Sequence[str] = ()
    """The names of its providers of models."""
    paths: Sequence[str] = ()
    tables: Sequence[str] = ()
    mistyped: Mapping[str, str] = field(default_factory=dict)
    """Its members that look like one of `Plugin`, which is not called by that name, with the right one."""
    failures: Sequence[PluginFailure] = ()
    """The last failure of each thing that it does, since the start, the last one first."""

    def waits(self, approved: Content | None) -> bool:
        """Return True if what is installed of it is not what was approved."""
        if self.installed is None or self.state is State.OFF:
            return False
        return approved is None or approved.digest != self.installed.digest


class AbsentPlugin(Struct, frozen=True):
    """A plugin that is not loaded, though the settings name it."""

    name: str
    why: str
    """The key of what owners are told about one of its commands."""

    def words(self, command: str, slash: str, language: Language, *, is_owner: bool) -> str:
        """Return the reply to one of its commands: to owners with what to do about it."""
        key = self.why if is_owner else "plugin_command_absent"
        return say(key, language, slash=slash, command=literal(command), name=literal(self.name))


class Form(Struct, frozen=True):
    """The form of what is not Parley's own text."""

    text: Callable[[str], str]
    code: Callable[[str], str]


def _monospaced(code: str) -> str:
    return f"`{code}`"


IN_CHATS = Form(literal, _monospaced)
"""Markdown."""


class PluginWords(Struct, frozen=True):
    """A plugin in words, without its name and its failure."""

    whose: str
    state: str
    adds: Sequence[str]
    """A line for each kind of what it adds."""
    newer: Sequence[str]
    """A line if something else is installed of it now."""
    to_do: str
    """The next step for one that is left out or has failed; empty otherwise."""


def words_of(plugin: ListedPlugin, approved: Content | None, language: Language, form: Form) -> PluginWords:
    """Return a plugin in words. `approved` is what is approved of it now."""
    content, waits = plugin.content, plugin.waits(approved)
    before = approved if plugin.state is State.CHANGED else None
    is_shown_now = plugin.state in (State.CHANGED, State.OFF)
    if plugin.installed is not None and is_shown_now:
        content = plugin.installed
    state = say(
        "plugins_approved_now" if plugin.state is State.CHANGED and not waits else _SAID[plugin.state],
        language,
        reason=form.text(reason_in(plugin.reason, language)),
        before=form.text(before.version) if before else "–",
        code=form.code(before.code if before else "–"),
    )
    whose = say("plugins_of_others", language) if content is None else content_words(content, language, form)
    whose = say("plugins_ours", language) if plugin.is_ours else whose
    newer: list[str] = []
    if not is_shown_now and plugin.installed is not None and plugin.installed != plugin.content:
        key = "plugins_newer_waits" if waits else "plugins_newer_approved"
        newer.append(say(key, language, content=content_words(plugin.installed, language, form)))
    return PluginWords(whose, state, list(_adds(plugin, language, form)), newer, _to_do(plugin, language, form))


def _to_do(plugin: ListedPlugin, language: Language, form: Form) -> str:
    if plugin.state is State.LEFT_OUT:
        return say("plugins_left_out_do", language, check=form.code(f"parley plugin check {plugin.name}"))
    off = form.code(f"PARLEY_PLUGINS_OFF={plugin.name}")
    return say("plugins_failed_do", language, off=off) if plugin.failures else ""


def content_words(content: Content, language: Language, form: Form) -> str:
    """Return the package of a plugin of others in words."""
    package, version, code = form.text(content.package), form.text(content.version), form.code(content.code)
    return say("plugins_content", language, package=package, version=version, code=code)


def _adds(plugin: ListedPlugin, language: Language, form: Form) -> Iterator[str]:
    """Yield a line for each kind of what the plugin adds."""
    for key, names in (
        ("plugins_commands", [with_rights(each, language, form) for each in plugin.commands]),
        ("plugins_tools", [with_rights(each, language, form) for each in plugin.tools]),
        ("plugins_presses", [with_rights(each, language, form) for each in plugin.presses]),
        ("plugins_moments", moments_of(plugin, language)),
        ("plugins_owed", [form.text(each) for each in plugin.owed]),
        ("plugins_duties", [form.text(each) for each in plugin.duties]),
        ("plugins_screens", [form.text(each) for each in plugin.screens]),
        ("plugins_settings", [form.text(each) for each in plugin.settings]),
        ("plugins_models", [form.text(each) for each in plugin.models]),
        ("plugins_routes", [form.text(each) for each in plugin.paths]),
        ("plugins_tables", [form.text(each) for each in plugin.tables]),
    ):
        if names:
            yield say(key, language, names=", ".join(names))


def moments_of(plugin: ListedPlugin, language: Language) -> Sequence[str]:
    """Return in words what a plugin may refuse, hold, hear and follow."""
    return [say(MOMENTS[each], language) for each in plugin.moments]


def with_rights(added: Added, language: Language, form: Form) -> str:
    """Return what was added with the worst that it does and who may give it, each form by itself if they differ."""
    if not added.forms:
        return form.text(added.name)
    rights = {words: ", ".join(_rights(added, right, language)) for words, right in added.forms.items()}
    if len(set(rights.values())) == 1:
        rights = {"": next(iter(rights.values()))}
    names = {words: form.text(f"{added.name} {_OTHERS.get(words, words)}".strip()) for words in rights}
    return ", ".join(
        say("plugins_with_rights", language, name=names[words], rights=each) for words, each in rights.items()
    )


def _rights(added: Added, right: Right, language: Language) -> Iterator[str]:
    yield say(_DOES[right.acts], language)
    if who := _who(right, language):
        yield who
    if added.is_untrusted:
        yield say("plugins_untrusted", language)


def _who(right: Right, language: Language) -> str:
    """Return who may give a form of a command; empty for a tool."""
    direct, group = (say(_FOR[role], language) if role else "" for role in (right.direct, right.group))
    if direct and group and direct != group:
        return say("plugins_for_both", language, direct=direct, group=group)
    if direct != group:
        return say("plugins_for_direct" if direct else "plugins_for_group", language, who=direct or group)
    return direct


def absent(plugin: ListedPlugin, approved: Content | None) -> AbsentPlugin:
    """Return why a plugin is not loaded. `approved` is what is approved of it now."""
    is_approved = plugin.state is State.CHANGED and plugin.installed is not None and not plugin.waits(approved)
    return AbsentPlugin(plugin.name, "plugin_command_approved" if is_approved else _ABSENT[plugin.state])


def failure_key(failure: PluginFailure) -> str:
    """Return the key of the text about a failure."""
    return "plugins_failed" if failure.count == 1 else "plugins_failed_often"
