"""The command /mcp: adds and removes MCP servers, and approves what servers say of their tools."""

from collections.abc import Sequence

from channels.base import Button, OutboundMessage
from channels.commands import Suggestion
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.permissions.rights import OTHERWISE, Right, Rights
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.plugins.mcp.adding import Adding
from gateway.plugins.mcp.approving import APPROVE, Approving
from gateway.plugins.mcp.signing_in import SigningIn
from gateway.texts.say import say
from gateway.upkeep.mcp_notices import left_out_lines

OWNERS = Right("admin", Role.OWNER, Role.OWNER, refusal="mcp_not_yours")
SIGNING_IN = Right("net", Role.MEMBER, Role.MEMBER)
"""To sign in for oneself, or for everybody, of which only owners have the right."""
VERBS = frozenset({"add", "rm", "list", "in", "out", APPROVE})
MOST_BUTTONS = 5


class McpCommand:
    """The command /mcp."""

    def __init__(self, core: Core, signing_in: SigningIn) -> None:
        self._servers = core.servers
        self._adding = Adding(core, signing_in, VERBS)
        self._approving = Approving(core.servers.approved)
        self._forms = {
            "add": self._adding.add,
            "rm": self._adding.remove,
            "in": signing_in.sign_in,
            "out": signing_in.sign_out,
            APPROVE: self._approving.approve,
        }

    async def mcp(self, given: Invocation) -> Answer:
        """Do what the first word says; show what a server says of its tools, or list the servers without one."""
        form, name, words = (*given.arguments.split(None, 2), "", "", "")[:3]
        if run := self._forms.get(form.lower()):
            return await run(given, name.strip("`"), words.strip())
        if form in self._servers.approved.waiting():
            return self._approving.shown(given, form)
        return self._list(given)

    def _list(self, given: Invocation) -> OutboundMessage:
        approved, language = self._servers.approved, given.language
        waiting = approved.waiting()
        others = [*self._adding.lines(language), *left_out_lines(approved, language)]
        if not waiting:
            lines = [say("mcp_none", language), *others, say("mcp_add_usage", language, slash=given.slash)]
            return reply("\n".join(lines))
        buttons = tuple(
            (Button(label=say("show_button", language, id=name), action=f"/mcp {name}"),)
            for name in waiting[:MOST_BUTTONS]
        )
        text = say("mcp_waiting", language, names=", ".join(f"`{name}`" for name in waiting))
        return OutboundMessage(markdown="\n".join([text, *others]), buttons=buttons)

    async def _suggest(self, unfinished: Unfinished) -> Sequence[Suggestion]:
        """Return the names of the servers."""
        return [Suggestion(value=each, label=each) for each in self._servers.approved.names]

    @property
    def command(self) -> Command:
        return Command(
            "mcp",
            {"en": "Add MCP servers, and approve their tools", "zh": "添加 MCP 服务器，并批准其工具"},
            self.mcp,
            rights=Rights({"in": SIGNING_IN, "out": SIGNING_IN, OTHERWISE: OWNERS}),
            arguments="[add|rm|in|out|list] [NAME] [ADDRESS]",
            example="add deepwiki https://mcp.deepwiki.com/mcp",
            offered_to=Role.OWNER,
            after="plugins",
            suggest=self._suggest,
            recorded=frozenset(self._forms),
        )
