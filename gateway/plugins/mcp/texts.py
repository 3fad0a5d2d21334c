"""The texts of the plugin of MCP servers."""

TEXTS = {
    "mcp_add_usage": {
        "en": "`{slash}mcp add NAME ADDRESS` adds one, such as `{slash}mcp add deepwiki https://mcp.deepwiki.com/mcp`. "
        "`{slash}mcp rm NAME` removes it.",
        "zh": "`{slash}mcp add 名称 地址` 可添加服务器，例如 `{slash}mcp add deepwiki https://mcp.deepwiki.com/mcp`。"
        "`{slash}mcp rm 名称` 可移除。",
    },
    "mcp_not_installed": {
        "en": "The package `mcp` is not installed here; `parley doctor` on this machine prints the command for it.",
        "zh": "这里没有安装软件包 `mcp`；在本机运行 `parley doctor` 可看到安装命令。",
    },
    "mcp_no_name": {
        "en": "`{name}` cannot be the name of a server, as its tools begin with it: at most {most} letters, digits and "
        "hyphens, and none of the words of this command.",
        "zh": "`{name}` 不能作为服务器名称，因为其工具以此开头：最多 {most} 个字母、数字和连字符，"
        "且不能是本命令的用词。",
    },
    "mcp_taken": {
        "en": "There is a server `{name}` already. `{slash}mcp rm` removes one that was added in a chat.",
        "zh": "已有名为 `{name}` 的服务器。`{slash}mcp rm` 可移除在聊天中添加的服务器。",
    },
    "mcp_too_many": {
        "en": "There are {most} added servers already; `{slash}mcp rm NAME` removes one.",
        "zh": "已添加 {most} 个服务器；请先用 `{slash}mcp rm 名称` 移除一个。",
    },
    "mcp_no_address": {
        "en": "That is no address of an MCP server. It looks like `https://mcp.deepwiki.com/mcp`, without a name or "
        "password in it.",
        "zh": "这不是 MCP 服务器的地址。地址形如 `https://mcp.deepwiki.com/mcp`，不含用户名和密码。",
    },
    "mcp_no_https": {
        "en": "The address must begin with https://, as tools and tokens pass through it.",
        "zh": "地址必须以 https:// 开头，因为工具内容和令牌都经由它传输。",
    },
    "mcp_private_address": {
        "en": "A server of a private network is not added in a chat. Whoever runs Parley can name it in parley.toml.",
        "zh": "内部网络的服务器不能在聊天中添加。运行 Parley 的人可以把它写进 parley.toml。",
    },
    "mcp_added": {
        "en": "`{name}` is added, with {count} tools. I use them, but treat every conversation as containing untrusted "
        "input until you have approved what it says of them.",
        "zh": "已添加 `{name}`，有 {count} 个工具。我可以使用它们，但在您批准其说明之前，"
        "会把所有对话都视为含有不可信内容。",
    },
    "mcp_added_slow": {
        "en": "`{name}` is added, and has not answered yet. I go on trying.",
        "zh": "已添加 `{name}`，它尚未应答，我会继续尝试。",
    },
    "mcp_added_trouble": {
        "en": "`{name}` is added, and cannot be used yet: `{why}`. I go on trying; `{slash}mcp rm {name}` removes it.",
        "zh": "已添加 `{name}`，但暂时无法使用：`{why}`。我会继续尝试；`{slash}mcp rm {name}` 可移除。",
    },
    "mcp_not_added": {
        "en": "No server `{name}` was added in a chat. Those in parley.toml are removed there.",
        "zh": "没有在聊天中添加过名为 `{name}` 的服务器。parley.toml 中的服务器需在该文件中移除。",
    },
    "mcp_removed": {"en": "`{name}` is removed.", "zh": "已移除 `{name}`。"},
    "mcp_line": {"en": "- `{name}`, `{url}`: {state}", "zh": "- `{name}`，`{url}`：{state}"},
    "mcp_state_tools": {"en": "{count} tools", "zh": "{count} 个工具"},
    "page_mcp": {"en": "MCP servers", "zh": "MCP 服务器"},
    "page_mcp_none": {
        "en": "No MCP server is set up. Add one here, or write a table [mcp.NAME] with command or url in parley.toml.",
        "zh": "没有配置 MCP 服务器。可在此添加，或在 parley.toml 中写入表 [mcp.NAME]，写明 command 或 url。",
    },
    "page_mcp_connected": {"en": "connected", "zh": "已连接"},
    "page_mcp_down": {
        "en": "not connected; Parley tries again by itself. Its reason is in the log.",
        "zh": "未连接，Parley 会自动重试，原因见日志。",
    },
    "page_mcp_why": {
        "en": "not connected; Parley tries again by itself: {why}.",
        "zh": "未连接，Parley 会自动重试：{why}。",
    },
    "page_mcp_waiting": {
        "en": "It has changed what it says of its tools. Until you approve that, its words count as a stranger's.",
        "zh": "它更改了工具说明。在您批准之前，这些说明按陌生人的内容处理。",
    },
    "page_mcp_look": {"en": "Look at the changes", "zh": "查看更改"},
    "page_mcp_tools": {"en": "Tools: {count}", "zh": "工具：{count}"},
    "page_mcp_left_out": {"en": "Tools that cannot be used: {count}", "zh": "无法使用的工具：{count}"},
    "page_mcp_new": {"en": "not approved yet", "zh": "尚未批准"},
    "page_mcp_add": {"en": "Add a server", "zh": "添加服务器"},
    "page_mcp_add_about": {
        "en": "Its tools are offered once it answers, and you approve what it says of them. A program on this machine "
        "is added in parley.toml only.",
        "zh": "服务器应答后即提供其工具，其说明由您批准。本机上的程序只能在 parley.toml 中添加。",
    },
    "page_mcp_name": {"en": "Name", "zh": "名称"},
    "page_mcp_address": {"en": "Address", "zh": "地址"},
    "page_mcp_known": {"en": "Well-known servers", "zh": "常用服务器"},
    "page_mcp_remove": {"en": "Remove", "zh": "移除"},
    "page_mcp_added": {"en": "added here: {url}", "zh": "在此添加：{url}"},
}
