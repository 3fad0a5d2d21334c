"""Texts about the tools of MCP servers."""

TEXTS = {
    "mcp_changed": {
        "en": "The MCP server `{name}` has new tools, or describes them differently. Until you approve that, I treat "
        "every conversation as if strangers had a word in it, and ask more often. To look at them: `/mcp {name}`.",
        "zh": "MCP 服务器 `{name}` 新增了工具，或更改了工具说明。在你批准之前，我会把所有对话都当作含有陌生人的内容，"
        "因此会更常询问。查看详情：`/mcp {name}`。",
    },
    "look_button": {"en": "Look", "zh": "查看"},
    "mcp_none": {
        "en": "No MCP server waits for an approval.",
        "zh": "没有需要批准的 MCP 服务器。",
    },
    "mcp_waiting": {
        "en": "These MCP servers have tools that nobody has approved yet: {names}.",
        "zh": "以下 MCP 服务器有尚未批准的工具：{names}。",
    },
    "mcp_shown": {
        "en": "The MCP server `{name}` says this of its tools. Approve it only if it does not tell me what to do:",
        "zh": "MCP 服务器 `{name}` 这样说明它的工具。只有在其中没有指使我做事的内容时才批准：",
    },
    "mcp_as_before": {
        "en": "The MCP server `{name}` describes its tools as approved again.",
        "zh": "MCP 服务器 `{name}` 的工具说明已恢复为批准过的内容。",
    },
    "mcp_more": {"en": "{count} more are shown afterwards.", "zh": "另外 {count} 个随后显示。"},
    "mcp_cut": {"en": "{count} more characters", "zh": "另有 {count} 个字符"},
    "mcp_approve_button": {"en": "Approve", "zh": "批准"},
    "mcp_approved": {
        "en": "Approved: the tools of the MCP server `{name}` as they are now. What I said after reading its words "
        "before counts as after strangers; `/new` begins without them.",
        "zh": "已批准 MCP 服务器 `{name}` 当前的工具。我此前读过其说明后说的话仍视为受陌生人影响；`/new` 可重新开始。",
    },
    "mcp_not_yours": {
        "en": "Only an owner can approve the tools of MCP servers.",
        "zh": "只有所有者可以批准 MCP 服务器的工具。",
    },
}
