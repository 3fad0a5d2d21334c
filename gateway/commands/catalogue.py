"""All commands, in the order of menus and /help."""

from gateway.commands import (
    approvals,
    context,
    conversation,
    cron,
    export,
    heartbeat,
    info,
    mcp,
    proactive,
    remind,
    report,
    rules,
    skills,
    tasks,
    undo,
    zone,
)
from gateway.commands.table import Command

COMMANDS: tuple[Command, ...] = (
    *info.COMMANDS,
    *conversation.COMMANDS,
    *zone.COMMANDS,
    *export.COMMANDS,
    *context.COMMANDS,
    *skills.COMMANDS,
    *approvals.COMMANDS,
    *rules.COMMANDS,
    *tasks.COMMANDS,
    *undo.COMMANDS,
    *remind.COMMANDS,
    *report.COMMANDS,
    *cron.COMMANDS,
    *heartbeat.COMMANDS,
    *proactive.COMMANDS,
    *mcp.COMMANDS,
)
BY_NAME: dict[str, Command] = {command.name: command for command in COMMANDS}
SPECS = tuple(command.spec for command in COMMANDS if not command.hidden)
