"""`parley plugin`: which plugins there are, what one adds or what is wrong with it, and a new one. Parley may run."""

import asyncio
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from gateway.app.new_plugin import new_plugin, package_of, steps
from gateway.app.plugin_trial import Tried, faults_of
from gateway.commands.plugin_words import Form, moments_of, with_rights
from gateway.errors import ParleyError
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.installed_plugins import Content, InstalledPlugin, content_of, installed_plugins, names_of_ours
from gateway.records.logs import configure_logs
from gateway.security.printing import print_pieces
from gateway.security.secrets import Secrets
from gateway.settings.settings import Settings, load_settings
from gateway.texts.plugin_reasons import cause, remedy

PLAIN = Form(text=str, code=str)


def run(environ: Mapping[str, str], cwd: Path, given: Namespace) -> int:
    """List the plugins, check one, or write a new one. Return 1 if something is wrong with the checked one.

    Raises ParleyError.
    """
    if given.action == "new":
        folder = cwd / (given.folder or package_of(given.name))
        new_plugin(given.name, folder, installed_plugins())
        print_pieces((f"{line}\n" for line in steps(given.name, folder)), Secrets())
        return 0
    settings = load_settings(environ, cwd)
    if given.action == "list":
        print_pieces((f"{line}\n" for line in _listed(settings)), settings.secrets)
        return 0
    configure_logs(settings.secrets, level="error", form=settings.log_format)  # what is left out is told below
    found = asyncio.run(checked(settings, given.name))
    lines = [*told(found), *([] if found.faults else _next_steps(settings, given.name))]
    print_pieces((f"{line}\n" for line in lines), settings.secrets)
    return int(bool(found.faults))


def _listed(settings: Settings) -> Iterator[str]:
    """Yield a line for each plugin. Nothing of others is imported."""
    ours, installed = names_of_ours(), installed_plugins()
    names = sorted({*ours, *installed, *settings.plugins})
    width = max(map(len, names), default=0)
    for name in names:
        for each in _outlooks(settings, name, installed.get(name, ()), is_ours=name in ours):
            step = f" → {each.step}" if each.step else ""
            yield f"{name:{width}}  {each.state}{step}  ({each.whose})"


def _next_steps(settings: Settings, name: str) -> Iterator[str]:
    """Yield why the next start does not load a plugin with which nothing is wrong, and what to do about it."""
    found = _outlooks(settings, name, installed_plugins().get(name, ()), is_ours=name in names_of_ours())
    return (f"! {each.state} → {each.step}" for each in found if each.step)


class _Outlook(Struct, frozen=True):
    """A plugin as the next start sees it."""

    whose: str
    state: str
    step: str = ""
    """Makes the next start load it; empty if it does."""


def _outlooks(settings: Settings, name: str, found: Sequence[InstalledPlugin], *, is_ours: bool) -> Iterator[_Outlook]:
    """Yield what the next start makes of each that has the name."""
    off = ("switched off", f"take {name} out of PARLEY_PLUGINS_OFF") if name in settings.plugins_off else None
    if is_ours:
        yield _Outlook("comes with Parley", *(off or ("on",)))
    elif not found:
        yield _Outlook("of others", "not installed, though PARLEY_PLUGINS names it", "install its package")
    for plugin in found:
        try:
            content = content_of(plugin)
        except (OSError, ImportError, ValueError) as error:
            yield _Outlook(plugin.package, f"its files cannot be read: {error}", "install its package again")
            continue
        whose = f"{content.package} {content.version}, digest {content.code}"
        yield _Outlook(whose, *(off or _state(settings, name, content, is_alone=not is_ours and len(found) == 1)))


def _state(settings: Settings, name: str, content: Content, *, is_alone: bool) -> tuple[str, str]:
    """Return the state of a plugin of others that is not switched off, and the next step."""
    if name not in settings.plugins:
        names = ",".join([*settings.plugins, name])
        return "not loaded: PARLEY_PLUGINS does not name it", f"set PARLEY_PLUGINS={names}, and start Parley again"
    if not is_alone:
        return "not loaded: another plugin has its name", "uninstall one of them"
    if ApprovedPlugins(settings.home).would_pass(name, content):
        return "on", ""
    return "waits for approval", f"give /plugins approve {name} in a chat if you trust it, and start Parley again"


async def checked(settings: Settings, name: str) -> Tried:
    """Return what became of a plugin that was made as a start does, beside the others of the settings."""
    if name not in {*names_of_ours(), *installed_plugins(), *settings.plugins}:
        raise ParleyError(
            f"No plugin has the name {name}. `parley plugin list` shows those that are installed; one of others is a "
            "package with an entry point in the group parley.plugins."
        )
    names = dict.fromkeys([*settings.plugins, name])
    return await faults_of(settings, names, settings.plugins_off - {name}, name)


def told(found: Tried) -> Iterator[str]:
    """Yield what the plugin adds, or all that is wrong with it, each with what to do about it."""
    plugin = found.plugin
    whose = "comes with Parley" if plugin.is_ours else "of others"
    if plugin.content is not None:
        whose = f"{plugin.content.package} {plugin.content.version}, digest {plugin.content.code}"
    yield f"{plugin.name} ({whose})"
    if found.faults:
        yield from (f"✗ {cause(fault)} → {remedy(fault)}" for fault in found.faults)
        return
    for what, added in (
        ("commands", [with_rights(each, "en", PLAIN) for each in plugin.commands]),
        ("tools", [with_rights(each, "en", PLAIN) for each in plugin.tools]),
        ("buttons", [with_rights(each, "en", PLAIN) for each in plugin.presses]),
        ("takes part", moments_of(plugin, "en")),
        ("follows answers", plugin.owed),
        ("duties", plugin.duties),
        ("screens", plugin.screens),
        ("settings", plugin.settings),
        ("providers of models", plugin.models),
        ("routes", plugin.paths),
        ("tables", plugin.tables),
    ):
        if added:
            yield f"  {what}: {', '.join(added)}"
    for name, meant in plugin.mistyped.items():
        yield f"! Parley does not call its `{name}` → rename it if `{meant}` is meant"
    if not plugin.mistyped:
        yield "✓ it can be loaded"
