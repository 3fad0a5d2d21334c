"""All commands, in the order in which people see them."""

from gateway.commands import (
    approvals,
    context,
    conversation,
    cron,
    export,
    heartbeat,
    info,
    proactive,
    remind,
    report,
    skills,
    tasks,
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
    *tasks.COMMANDS,
    *remind.COMMANDS,
    *report.COMMANDS,
    *cron.COMMANDS,
    *heartbeat.COMMANDS,
    *proactive.COMMANDS,
)
BY_NAME: dict[str, Command] = {command.name: command for command in COMMANDS}
SPECS = tuple(command.spec for command in COMMANDS if not command.hidden)
