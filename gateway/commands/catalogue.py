"""All commands, in the order of menus and /help."""

from gateway.commands import (
    approvals,
    conversation,
    cron,
    heartbeat,
    info,
    proactive,
    remind,
    report,
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
    *conversation.HISTORY_COMMANDS,
    *skills.COMMANDS,
    *approvals.COMMANDS,
    *tasks.COMMANDS,
    *undo.COMMANDS,
    *remind.COMMANDS,
    *report.COMMANDS,
    *cron.COMMANDS,
    *heartbeat.COMMANDS,
    *proactive.COMMANDS,
)
BY_NAME: dict[str, Command] = {command.name: command for command in COMMANDS}
SPECS = tuple(command.spec for command in COMMANDS if not command.hidden)
