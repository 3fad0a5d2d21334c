"""The names that authors of plugins may import; more are in `parley.channels` and `parley.testing`.

These names stay: one is removed or changed only with a new minor version, and the changelog says so. What is imported
from other modules of Parley may change at any time. docs/plugins.md leads through a plugin, and docs/public.md lists
the names with a sentence about each.
"""

from agent_core.clock import Clock
from agent_core.loop.permissions import Proposal
from agent_core.messages import text_of
from agent_core.models.llm import LlmClient, LlmOptions, LlmRequest, ModelInfo, StreamEvent, StreamStart
from agent_core.models.openai_client import OpenAiClient
from agent_core.models.provided import ModelProvider
from agent_core.models.scripted import Speech
from agent_core.models.selection import ModelSettingError
from agent_core.origin import CLEAN, DATA, NOT_KNOWN, Origin, joined, named
from agent_core.reasons import TerminalReason
from agent_core.sandbox.command import Command as SandboxCommand
from agent_core.sandbox.command import Finished, Sandbox
from agent_core.sandbox.limits import CommandLimits
from agent_core.tasks import Report, TaskStatus
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Acts, RetryableToolError, Tool, ToolContext, ToolFailed, tool
from agent_core.tools.web.fetch import AnswerRefused, Fetched, Fetcher
from channels.attachments import Attachment
from channels.base import (
    Button,
    ButtonPressed,
    ChannelError,
    ChatKey,
    ChatMoved,
    CommandInvoked,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    OutboundMessage,
    ReactionAdded,
    ReactionRemoved,
    RequestMade,
    ScheduleFired,
    Sender,
    TaskEnded,
)
from channels.buttons import Choice, Entry, fits_a_button
from channels.commands import CommandSpec, Suggestion, Typed
from channels.text import in_code, in_link, linked, literal
from channels.web.visitor import Visitor
from gateway.admin.insight import Insight
from gateway.admin.screen import Follows, Group, Grouped, NoSuchItem, Screen, View, Visit, Waits
from gateway.admin.tables import Action, Amount, Moment, Pick, PlainTable, tables_view
from gateway.chat.holds import HoldUntil
from gateway.chat.places import Place
from gateway.chat.prompt_notes import PromptHistory, PromptNote
from gateway.chat.received_files import FileContents, ReceivedFile
from gateway.chat.replies import Again, Answer, Once, Quoting, Rewritten, Said, Settling, Unfolded
from gateway.chat.sounds import Heard, Sound
from gateway.commands.command import Command, CommandTable, Invocation, Unfinished, reply, rewritten, whispered
from gateway.commands.press import Press, press_action, press_name
from gateway.core import Core, Duty, Running, TellsOwners
from gateway.delivery.delivery import Delivery
from gateway.errors import ParleyError
from gateway.permissions.access import Access
from gateway.permissions.budgets import Budgets
from gateway.permissions.gates import Objection
from gateway.permissions.group_rules import GroupRules
from gateway.permissions.rights import LOOK, OTHERWISE, TALK, Right, Rights, always
from gateway.permissions.roles import Role, Roles
from gateway.permissions.workspaces import Workspaces
from gateway.plugin import Plugin
from gateway.records.metric import Durations, Metric, counter, gauge
from gateway.runs.added_servers import AddedServers
from gateway.runs.errands import Errand, ErrandEnd, Errands
from gateway.runs.model_set import CurrentModels
from gateway.runs.owed import Doer
from gateway.runs.run_buttons import RunButton
from gateway.runs.server_calls import ServerCalls
from gateway.runs.server_tool import NotSignedIn
from gateway.schedule.jobs.report_kinds import MadeReport, ReportKind, ReportOrder, ReportRefused
from gateway.security.masked_pieces import MaskedPieces
from gateway.security.secrets import Secrets
from gateway.settings.current import CurrentSettings
from gateway.settings.plugin_settings import About, PluginSettings
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.owed import Owed
from gateway.store.rows import InboxItem, Post, Run, RunEnd
from gateway.store.store import Store
from gateway.store.table import Table, chat_of, first_readable, readable
from gateway.texts.say import LANGUAGES, Language, say
from gateway.web.rate_limit import RateLimit
from gateway.web.route import Answer as RouteAnswer
from gateway.web.route import Asked as RouteAsked
from gateway.web.route import Opening, Route
from gateway.web.route import Refused as RouteRefused

__all__ = [
    "CLEAN",
    "DATA",
    "LANGUAGES",
    "LOOK",
    "NOT_KNOWN",
    "OTHERWISE",
    "TALK",
    "About",
    "Access",
    "Action",
    "Acts",
    "AddedServers",
    "Again",
    "Amount",
    "Answer",
    "AnswerRefused",
    "Attachment",
    "Budgets",
    "Button",
    "ButtonPressed",
    "ChannelError",
    "ChatKey",
    "ChatMoved",
    "Choice",
    "Clock",
    "Command",
    "CommandInvoked",
    "CommandLimits",
    "CommandSpec",
    "CommandTable",
    "Connection",
    "Core",
    "CurrentModels",
    "CurrentSettings",
    "Delivery",
    "Doer",
    "Durations",
    "Duty",
    "Entry",
    "Errand",
    "ErrandEnd",
    "Errands",
    "Fetched",
    "Fetcher",
    "FileContents",
    "Finished",
    "Follows",
    "Forgotten",
    "Group",
    "GroupRules",
    "Grouped",
    "Heard",
    "HoldUntil",
    "InboundEvent",
    "InboxItem",
    "Insight",
    "Invocation",
    "Language",
    "LlmClient",
    "LlmOptions",
    "LlmRequest",
    "MadeReport",
    "MaskedPieces",
    "MessageDeleted",
    "MessageEdited",
    "MessageReceived",
    "Metric",
    "ModelInfo",
    "ModelProvider",
    "ModelSettingError",
    "Moment",
    "NoSuchItem",
    "NotSignedIn",
    "Objection",
    "Once",
    "OpenAiClient",
    "Opening",
    "Origin",
    "OutboundMessage",
    "Owed",
    "ParleyError",
    "Pick",
    "Place",
    "PlainTable",
    "Plugin",
    "PluginSettings",
    "Post",
    "Press",
    "PromptHistory",
    "PromptNote",
    "Proposal",
    "Quoting",
    "RateLimit",
    "ReactionAdded",
    "ReactionRemoved",
    "ReceivedFile",
    "Report",
    "ReportKind",
    "ReportOrder",
    "ReportRefused",
    "RequestMade",
    "RetryableToolError",
    "Rewritten",
    "Right",
    "Rights",
    "Role",
    "Roles",
    "Route",
    "RouteAnswer",
    "RouteAsked",
    "RouteRefused",
    "Run",
    "RunButton",
    "RunEnd",
    "Running",
    "Said",
    "Sandbox",
    "SandboxCommand",
    "ScheduleFired",
    "Screen",
    "Secrets",
    "Sender",
    "ServerCalls",
    "Settling",
    "Sound",
    "Speech",
    "Store",
    "StreamEvent",
    "StreamStart",
    "Suggestion",
    "Table",
    "TaskEnded",
    "TaskStatus",
    "TellsOwners",
    "TerminalReason",
    "Tool",
    "ToolContext",
    "ToolFailed",
    "ToolResult",
    "Typed",
    "Unfinished",
    "Unfolded",
    "View",
    "Visit",
    "Visitor",
    "Waits",
    "Workspaces",
    "always",
    "chat_of",
    "counter",
    "first_readable",
    "fits_a_button",
    "gauge",
    "in_code",
    "in_link",
    "joined",
    "linked",
    "literal",
    "named",
    "press_action",
    "press_name",
    "readable",
    "reply",
    "rewritten",
    "say",
    "tables_view",
    "text_of",
    "tool",
    "whispered",
]
