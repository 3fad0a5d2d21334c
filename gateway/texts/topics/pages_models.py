"""Texts of the admin pages of models and MCP servers."""

TEXTS = {
    "page_models": {"en": "Models", "zh": "模型"},
    "page_models_price": {"en": "Price", "zh": "价格"},
    "page_models_window": {"en": "Window (tokens)", "zh": "上下文窗口（词元）"},
    "page_models_can": {"en": "Can", "zh": "能力"},
    "page_models_vision": {"en": "see pictures", "zh": "看图"},
    "page_models_thinks": {"en": "think", "zh": "思考"},
    "page_models_default": {"en": "the default", "zh": "默认模型"},
    "page_models_fallback": {"en": "asked when another one fails", "zh": "其他模型失败时使用"},
    "page_models_cheaper": {"en": "asked when little of a budget is left", "zh": "预算将尽时使用"},
    "page_models_rests": {
        "en": "has failed, and is asked again in {minutes} min",
        "zh": "最近调用失败，{minutes} 分钟后再试",
    },
    "page_models_unreachable": {"en": "cannot be used: {why}", "zh": "无法使用：{why}"},
    "page_models_test": {"en": "Test", "zh": "测试"},
    "page_models_where": {
        "en": "The default, the fallbacks and the other models are settings:",
        "zh": "默认模型、后备模型和其他模型在设置中指定：",
    },
    "page_models_chosen": {"en": "Chosen in chats", "zh": "聊天中的选择"},
    "page_models_choice": {"en": "Choice", "zh": "选择"},
    "page_models_none_chosen": {
        "en": "No chat has chosen a model: the default one answers everywhere.",
        "zh": "没有聊天选择过模型，全部使用默认模型。",
    },
    "page_models_choose": {"en": "Choose", "zh": "选择"},
    "page_models_model": {"en": "Model", "zh": "模型"},
    "page_models_thinking": {"en": "Thinking", "zh": "思考程度"},
    "page_models_everywhere": {"en": "Set for all chats", "zh": "对所有聊天设置"},
    "page_mcp": {"en": "MCP servers", "zh": "MCP 服务器"},
    "page_mcp_none": {
        "en": "No MCP server is set up. Each is a table [mcp.NAME] of parley.toml with command or url.",
        "zh": "没有配置 MCP 服务器。请在 parley.toml 中添加表 [mcp.NAME]，写明 command 或 url，然后重启。",
    },
    "page_mcp_connected": {"en": "connected", "zh": "已连接"},
    "page_mcp_down": {
        "en": "not connected; Parley tries again by itself. Its reason is in the log.",
        "zh": "未连接，Parley 会自动重试，原因见日志。",
    },
    "page_mcp_waiting": {
        "en": "It has changed what it says of its tools. Until you approve that, its words count as a stranger's.",
        "zh": "它更改了工具说明。在您批准之前，这些说明按陌生人的内容处理。",
    },
    "page_mcp_look": {"en": "Look at the changes", "zh": "查看更改"},
    "page_mcp_tools": {"en": "Tools: {count}", "zh": "工具：{count}"},
    "page_mcp_left_out": {"en": "Tools that cannot be used: {count}", "zh": "无法使用的工具：{count}"},
    "page_mcp_new": {"en": "not approved yet", "zh": "尚未批准"},
}
