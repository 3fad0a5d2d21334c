"""Detects tool calls that destroy existing content: forgetting a fact, overwriting a file."""

import os

from agent_core.loop.permissions import Proposal
from agent_core.messages import AssistantMessage, ToolResultMessage, text_of

FORGET, WRITE = "forget", "write_file"


def destroys(proposal: Proposal) -> bool:
    """Return True if the call forgets a fact or overwrites a file that this conversation did not create."""
    call = proposal.call
    if call.name == FORGET:
        return True
    path = call.arguments.get("path")
    if call.name != WRITE or not isinstance(path, str):
        return False
    try:
        is_there = os.path.lexists(proposal.workspace / path)
    except (OSError, ValueError):
        return False
    return is_there and os.path.normpath(path) not in _created(proposal)


def _created(proposal: Proposal) -> set[str]:
    """Return the paths of files that calls in this conversation have created."""
    new = {
        message.tool_call_id
        for message in proposal.messages
        if isinstance(message, ToolResultMessage) and message.tool_name == WRITE and _says_created(message)
    }
    return {
        os.path.normpath(str(call.arguments.get("path")))
        for message in proposal.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
        if call.id in new
    }


def _says_created(message: ToolResultMessage) -> bool:
    return not message.is_error and text_of(message.content).startswith("Created ")
