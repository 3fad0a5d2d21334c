"""`parley doctor`: one line per check, each problem with its fix, and an exit code."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from agent_core.models.provided import ModelProvider
from channels import discovery
from channels.checkup import Finding, note, ok, problem
from gateway.errors import SettingsError
from gateway.records.audit_chain import FOLDER as AUDIT
from gateway.records.logs import configure_logs
from gateway.runs.toolbox import searcher_of
from gateway.security.secrets import Secrets
from gateway.settings.limits import MB
from gateway.settings.local_node import local_nodes
from gateway.settings.settings import Settings, exposed, read_settings
from gateway.upkeep.doctor.connections import look_at_mcp, look_at_model
from gateway.upkeep.doctor.home import look_at_home, look_at_instance, look_at_page, look_at_skills, running
from gateway.upkeep.doctor.machine import look_at_machine, look_at_sandbox
from gateway.upkeep.doctor.plugins import look_at_plugins

Examines = Callable[[Settings], Awaitable[Sequence[Finding]]]
"""Returns what those plugins find."""
OwnModels = Callable[[Settings], Sequence[ModelProvider]]
"""Returns the providers of models of the plugins that come with Parley."""
MOST_LINES = 25
SIGNS = {"ok": "✓", "note": "·", "problem": "✗"}


async def _nothing(_: Settings) -> Sequence[Finding]:
    return ()


def run(
    environ: Mapping[str, str], cwd: Path, provided: OwnModels = lambda _: (), examines: Examines = _nothing
) -> int:
    """Print the report. Returns 0 if there is no problem, else 1. Raises SettingsError if there are no settings."""
    settings, refusals = read_settings(environ, cwd)
    configure_logs(settings.secrets, level="warning", form=settings.log_format)
    findings = [*map(_refused, refusals.sentences), *asyncio.run(examine(settings, provided(settings), examines))]
    sys.stdout.write(render(findings, settings.secrets))
    return int(any(finding.mark == "problem" for finding in findings))


async def examine(
    settings: Settings, provided: Sequence[ModelProvider] = (), examines: Examines = _nothing
) -> list[Finding]:
    """Run all checks, in the order of dependency; those that use the network run concurrently."""
    channels = (discovery.check(*channel) for channel in settings.channels.items())
    waiting = asyncio.gather(
        look_at_model(settings, provided=provided),
        look_at_sandbox(settings),
        look_at_mcp(settings),
        examines(settings),
        *channels,
    )
    holder = _running(await local_nodes(settings) or [settings])
    findings = [
        *look_at_machine(),
        *_look_at_settings(settings),
        *look_at_home(settings.home, settings.quotas.reserve_mb * MB, settings.database),
        *look_at_instance(holder),
        *look_at_skills(settings),
        *look_at_plugins(settings),
        *(look_at_page(settings.web, holder) if settings.web.enabled else ()),
    ]
    for answers in await waiting:
        findings.extend(answers)
    return findings


def _running(here: Sequence[Settings]) -> str | None:
    """Return the processes of Parley on this machine, with their names if there are several; None if there is none."""
    holders = [(each.node, holder) for each in here if (holder := running(each.local))]
    return ", ".join(f"{name}: {holder}" if len(holders) > 1 else holder for name, holder in holders) or None


def render(findings: Sequence[Finding], secrets: Secrets) -> str:
    """Format at most 25 lines; if there are more, checks that passed are dropped first."""
    problems = sum(finding.mark == "problem" for finding in findings)
    shown = list(findings)
    for mark in ("ok", "note"):
        if len(shown) >= MOST_LINES:
            shown = [finding for finding in shown if finding.mark != mark]
    lines = [
        f"{SIGNS[finding.mark]} {finding.what}" + (f" → {finding.fix}" if finding.fix else "") for finding in shown
    ][: MOST_LINES - 1]
    last = "Nothing is wrong." if not problems else f"{problems} problem{'s' if problems > 1 else ''} to put right."
    return "".join(f"{secrets.mask(' '.join(line.split()))}\n" for line in [*lines, last])


def _refused(sentence: str) -> Finding:
    fact, _, fix = sentence.rstrip(".").rpartition("; ")
    return problem(fact, fix) if fact else problem(fix, "correct it, or leave it out")


def _look_at_settings(settings: Settings) -> list[Finding]:
    files = ", ".join(map(str, settings.files)) or "the environment only; there is no .env or parley.toml"
    found = [ok(f"settings: {files}"), *settings.warnings]
    found += [
        problem(f"{file} holds secrets and can be read by others on this machine", f"chmod 600 {file}")
        for file in exposed(settings)
    ]
    found.append(ok(f"language {settings.language}, time zone {settings.timezone}"))
    if settings.audit:
        found.append(ok(f"tool calls are listed in {settings.home / AUDIT}"))
    try:
        searcher_of(settings)
    except SettingsError as error:
        found.append(problem(str(error).rstrip("."), "correct it, or leave it out"))
    if settings.channels and not (settings.owners or settings.allow):
        names = " and ".join(settings.channels)
        found.append(
            note(f"nobody may talk on {names} yet", "start Parley; the console shows a code to send to the bot")
        )
    return found
