"""Checks the plugins that the settings name, without importing anything of those of others."""

from collections.abc import Iterator

from channels.checkup import Finding, note, ok, problem
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.installed_plugins import InstalledPlugin, content_of, installed_plugins, names_of_ours
from gateway.settings.settings import Settings


def look_at_plugins(settings: Settings) -> Iterator[Finding]:
    """Check which plugins the next start loads, and why it leaves others out."""
    ours, installed, off = names_of_ours(), installed_plugins(), settings.plugins_off
    on = f"plugins: {len(ours - off)} of {len(ours)} that come with Parley are on"
    yield ok(f"{on}; switched off: {', '.join(sorted(ours & off))}" if ours & off else on)
    for name in sorted(off - ours - installed.keys()):
        yield note(f"PARLEY_PLUGINS_OFF names {name}, and there is no such plugin", "correct it, or leave it out")
    for name in sorted(installed.keys() - ours):
        if name in off:
            yield ok(f"plugin {name}: switched off by PARLEY_PLUGINS_OFF")
        elif name not in settings.plugins:
            yield note(f"plugin {name}: installed, but PARLEY_PLUGINS does not name it", "add it there if you trust it")
    approved = ApprovedPlugins(settings.home)
    for name in dict.fromkeys(settings.plugins):
        found = installed.get(name, ())
        if name in off or (name in ours and not found):
            continue
        if name in ours or len(found) > 1:
            packages = " and ".join(each.package for each in found)
            yield problem(f"plugin {name}: another one has its name, too", f"uninstall {packages}, or leave one")
        elif not found:
            yield problem(
                f"plugin {name}: no installed package has it", "install it, or leave it out of PARLEY_PLUGINS"
            )
        else:
            yield _look_at(found[0], approved)


def _look_at(plugin: InstalledPlugin, approved: ApprovedPlugins) -> Finding:
    """Check one that is installed once."""
    try:
        content = content_of(plugin)
    except (OSError, ImportError, ValueError) as error:
        return problem(f"plugin {plugin.name}: its files cannot be read ({error})", "install its package again")
    what = f"{content.package} {content.version}, digest {content.code}"
    if approved.would_pass(plugin.name, content):
        check = f"`parley plugin check {plugin.name}` tells its rights and what it may refuse"
        return ok(f"plugin {plugin.name}: {what}; {check}, /plugins its last failure while Parley runs")
    fix = f"start Parley, give /plugins approve {plugin.name} in a chat if you trust it, and start Parley again"
    return problem(f"plugin {plugin.name}: {what}, is not what was approved", fix)
