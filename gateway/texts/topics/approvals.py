"""Texts of approval questions and their outcomes, of the approval of MCP tools, and of the classes of tools."""

TEXTS = {
    "acts_read": {"en": "It looks at the files of this chat.", "zh": "它会查看本聊天的文件。"},
    "acts_write": {"en": "It changes the files of this chat.", "zh": "它会更改本聊天的文件。"},
    "acts_net": {"en": "It sends something to another machine.", "zh": "它会向另一台机器发送内容。"},
    "acts_exec": {"en": "It runs a program.", "zh": "它会运行程序。"},
    "acts_admin": {"en": "It changes schedules, skills or settings.", "zh": "它会更改日程、技能或设置。"},
    "after_strangers": {
        "en": "This conversation contains text from {sources}, which may have prompted this.",
        "zh": "本次对话含有来自{sources}的内容，此操作可能由其引起。",
    },
    "after_files": {
        "en": "This conversation contains files or program output, whose text may have prompted this.",
        "zh": "本次对话含有文件或程序输出，此操作可能由其中的文字引起。",
    },
    "covers_links": {
        "en": "Approving also lets me open the other links of that page for this message.",
        "zh": "同意后，针对这条消息我也可以打开该页面的其他链接。",
    },
    "not_given": {
        "en": "Only addresses written by a user can be opened here.",
        "zh": "这里只能打开用户写出的网址。",
    },
    "source_page": {"en": "{name}", "zh": "{name}"},
    "source_search": {"en": "a web search", "zh": "网页搜索"},
    "source_file": {"en": "the file {name}, of unknown origin", "zh": "来源不明的文件 {name}"},
    "source_sent": {"en": "{name} that {by} sent", "zh": "{by} 发来的 {name}"},
    "source_person": {"en": "{name}", "zh": "{name}"},
    "source_server": {"en": "the MCP server {name}", "zh": "MCP 服务器 {name}"},
    "source_hook": {"en": "the webhook {name}", "zh": "名为 {name} 的 Webhook"},
    "source_network": {"en": "a program that used the network", "zh": "使用过网络的程序"},
    "source_unknown": {"en": "an unknown source", "zh": "未知来源"},
    "source_data": {"en": "a file or a program", "zh": "文件或程序"},
    "source_more": {"en": "{count} more", "zh": "另外 {count} 处"},
    "source_and": {"en": ", ", "zh": "、"},
    "gate_asks": {"en": "A plugin wants every such call approved.", "zh": "有插件要求逐次批准此类操作。"},
    "gate_failed": {
        "en": "A plugin that has to agree to calls failed, so this one is refused. The log says which.",
        "zh": "负责审核操作的插件出错，因此拒绝执行。日志中有插件名称。",
    },
    "cannot_undo": {
        "en": "What it changes in this chat's files cannot be undone: there is too much to keep a copy of.",
        "zh": "它对本聊天文件的更改将无法撤销：文件太多或太大，无法备份。",
    },
    "for_nobody": {
        "en": "the user it would be made for is unknown",
        "zh": "不知道这是为谁执行的",
    },
    "may_not_speak": {"en": "the user may no longer use the bot here", "zh": "此人已无权在此发言"},
    "not_allowed": {"en": "That is not allowed here.", "zh": "此处不允许这样做。"},
    "ask_title": {"en": "**May I do this?** ({tool})", "zh": "**可以执行吗？**（{tool}）"},
    "ask_how": {
        "en": "Say yes or no within {minutes} minutes, or `{slash}approve {id}` or `{slash}deny {id}`.",
        "zh": "请在 {minutes} 分钟内回答“好”或“不”，也可以用 `{slash}approve {id}` 或 `{slash}deny {id}`。",
    },
    "approve_button": {"en": "Allow once", "zh": "允许一次"},
    "always_button": {"en": "Always here", "zh": "此处总是允许"},
    "deny_button": {"en": "Deny", "zh": "拒绝"},
    "ask_approved": {"en": "✓ Approved by {name}: {what}", "zh": "✓ {name} 已批准：{what}"},
    "ask_denied": {"en": "✗ Denied by {name}: {what}", "zh": "✗ {name} 已拒绝：{what}"},
    "ask_expired": {"en": "✗ Not answered in time: {what}", "zh": "✗ 未及时回答：{what}"},
    "ask_unused": {"en": "✗ The approval expired before it was used: {what}", "zh": "✗ 批准已过期，未被使用：{what}"},
    "ask_withdrawn": {"en": "✗ No longer needed: {what}", "zh": "✗ 已不再需要：{what}"},
    "ask_changed": {
        "en": "✗ Not done, because the files involved have changed since you were asked: {what}",
        "zh": "✗ 未执行：询问之后，相关文件已更改：{what}",
    },
    "changed_since": {
        "en": "The files involved have changed since it was approved.",
        "zh": "批准之后，相关文件已更改。",
    },
    "rule_ended": {
        "en": "You always allowed this, but the files involved have changed since.",
        "zh": "您曾选择总是允许，但相关文件此后已更改。",
    },
    "always_command": {
        "en": "*Always here* allows exactly this command, as long as the files it names, and the programs in "
        "this chat's folder that it could run, do not change.",
        "zh": "*此处总是允许*只针对这条命令，且它所列的文件和本聊天文件夹中它可能运行的程序未更改时有效。",
    },
    "always_script": {
        "en": "*Always here* allows this script, as long as its skill does not change.",
        "zh": "*此处总是允许*针对这个脚本，其技能未更改时有效。",
    },
    "ask_only_once": {
        "en": "That can only be allowed once: use `{slash}approve {id}`.",
        "zh": "这只能允许一次：请发送 `{slash}approve {id}`。",
    },
    "rules_title": {
        "en": "**Always allowed here**, as long as nothing about it changes:",
        "zh": "**此处总是允许**（相关内容未更改时有效）：",
    },
    "rules_line": {"en": "- `{id}` {what} – {name}, {day}", "zh": "- `{id}` {what} – {name}，{day}"},
    "rules_none": {
        "en": "Nothing is always allowed here. When I ask about a program, *Always here* adds a rule.",
        "zh": "这里没有总是允许的操作。在我请求运行程序时，可选“此处总是允许”。",
    },
    "rules_revoked": {"en": "I will ask again: {what}", "zh": "以后会再次询问：{what}"},
    "rules_unknown": {"en": "There is no rule {id} here.", "zh": "这里没有编号为 {id} 的规则。"},
    "rules_not_yours": {
        "en": "Only the person it was made for, or an owner or admin, can change this.",
        "zh": "只有这条规则的使用者、所有者或管理员可以更改。",
    },
    "rules_button": {"en": "Ask again: {id}", "zh": "重新询问：{id}"},
    "ask_you": {"en": "you", "zh": "您"},
    "ask_somebody": {"en": "somebody", "zh": "某人"},
    "ask_unknown": {"en": "There is no question {id} here.", "zh": "这里没有编号为 {id} 的问题。"},
    "ask_not_yours": {
        "en": "Only the person who asked, or an owner, can answer this.",
        "zh": "只有提问者或所有者可以回答它。",
    },
    "ask_too_late": {
        "en": "Too late: this was not answered in time. Ask again if you still need it.",
        "zh": "太晚了：未及时回答。如仍需要，请重新提出。",
    },
    "ask_was_approved": {"en": "That has been approved already.", "zh": "已经批准过了。"},
    "ask_was_denied": {"en": "That has been denied already.", "zh": "已经拒绝过了。"},
    "ask_was_withdrawn": {"en": "That is no longer needed.", "zh": "已不再需要。"},
    "ask_none": {"en": "No question here is waiting for your answer.", "zh": "这里没有等待您回答的问题。"},
    "ask_which": {"en": "Please choose one:", "zh": "请选择："},
    "which_one": {"en": "Which one do you mean?", "zh": "您指的是哪一个？"},
    "is_it_this": {"en": "Do you mean this?", "zh": "您指的是这个吗？"},
    "status_questions": {"en": "**Questions:** {count} open", "zh": "**待批准**：{count} 个"},
    "waiting_approval": {"en": "Waiting for approval: {label}", "zh": "等待批准：{label}"},
    "mcp_changed": {
        "en": "The MCP server `{name}` has new tools, or describes them differently. Until you approve them, "
        "I treat every conversation as containing untrusted input, and ask more often. The "
        "button shows them.",
        "zh": "MCP 服务器 `{name}` 新增了工具，或更改了工具说明。"
        "在您批准之前，我会把所有对话都视为含有不可信内容，因此会更常询问。点按钮可查看。",
    },
    "look_button": {"en": "View", "zh": "查看"},
    "mcp_cut": {"en": "{count} more characters", "zh": "另有 {count} 个字符"},
    "mcp_left_out": {
        "en": "I cannot use some tools of the MCP server `{name}`; its others work.\n{lines}\nWhoever maintains the "
        "server can correct them.",
        "zh": "MCP 服务器 `{name}` 的部分工具无法使用，其余工具正常。\n{lines}\n需要由该服务器的维护者修正。",
    },
    "mcp_left_out_line": {
        "en": "- {tool} of `{name}` is left out: {why}.",
        "zh": "- `{name}` 的 {tool} 未启用：{why}。",
    },
    "mcp_left_out_more": {
        "en": "- {count} more of `{name}` are left out.",
        "zh": "- `{name}` 还有 {count} 个工具未启用。",
    },
    "mcp_why_nameless": {"en": "it has no name", "zh": "没有名称"},
    "mcp_why_not_object": {"en": "its arguments are not an object", "zh": "其参数不是对象"},
    "mcp_why_too_deep": {"en": "its arguments are nested too deeply", "zh": "其参数嵌套过深"},
    "mcp_why_invalid": {"en": "the schema of its arguments is not valid", "zh": "其参数的 schema 无效"},
    "mcp_why_too_large": {"en": "the schema of its arguments is too large", "zh": "其参数的 schema 过大"},
    "mcp_why_too_many": {"en": "the server has too many tools", "zh": "该服务器的工具过多"},
    "mcp_why_header": {
        "en": "an x-mcp-header in its arguments is not valid",
        "zh": "其参数中的 x-mcp-header 无效",
    },
    "mcp_why_refused": {
        "en": "the model's server refuses the schema of its arguments",
        "zh": "模型的服务器不接受其参数的 schema",
    },
    "groups_only": {
        "en": "That is for groups. In a private chat I answer every message of the person it belongs to.",
        "zh": "这个命令只用于群聊。在私聊中，我会回答对方的每条消息。",
    },
    "tools_class_read": {"en": "look at files", "zh": "查看文件"},
    "tools_class_write": {"en": "change files", "zh": "更改文件"},
    "tools_class_net": {"en": "send something to other machines", "zh": "向其他机器发送内容"},
    "tools_class_exec": {"en": "run programs", "zh": "运行程序"},
    "tools_class_sandboxed": {"en": "run programs in the sandbox", "zh": "在沙箱中运行程序"},
    "tools_class_admin": {"en": "change schedules, skills and settings", "zh": "更改日程、技能和设置"},
}
