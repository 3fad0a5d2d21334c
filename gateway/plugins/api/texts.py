"""Texts of the API."""

TEXTS = {
    "api_usage": {
        "en": "Write `{slash}key add NAME`. A name has small letters, digits, - and _. `{slash}key rm NAME` removes "
        "one.",
        "zh": "请发送 `{slash}key add 名称`。名称由小写字母、数字、- 和 _ 组成。`{slash}key rm 名称` 可删除。",
    },
    "api_page_off": {
        "en": "Programs reach me through the page's server, which is off: set `PARLEY_WEB=on`.",
        "zh": "程序要通过网页的服务器访问我，但它已关闭：请设置 `PARLEY_WEB=on`。",
    },
    "api_alone": {
        "en": "A key speaks for you and is shown once. Make it in our direct chat.",
        "zh": "密钥代表您本人，且只显示一次。请在私聊中创建。",
    },
    "api_taken": {
        "en": "You have a key {name} here already, or {most} of them. `{slash}key` lists them.",
        "zh": "您在这里已有名为 {name} 的密钥，或已达到 {most} 个。`{slash}key` 可列出它们。",
    },
    "api_shown": {
        "en": "The key **{name}**, which I show only now: `{secret}`\n\nAddress: `{address}`, model: `{model}`. Who "
        "has the key talks to me as you, with your rights, files and budgets in this chat; what needs an approval I "
        "ask here.",
        "zh": "密钥 **{name}**（只显示这一次）：`{secret}`\n\n地址：`{address}`，模型：`{model}`。"
        "持有此密钥者以您的身份与我对话，使用您在本聊天中的权限、文件和预算；需要批准的操作会在这里询问。",
    },
    "api_local": {
        "en": "Only programs on this machine reach it now. docs/api.md says how others do.",
        "zh": "目前只有本机上的程序可以访问。其他机器如何访问，见 docs/api.md。",
    },
    "api_none_named": {
        "en": "There is no key `{name}` of yours here. `{slash}key` lists them.",
        "zh": "您在这里没有名为 `{name}` 的密钥。`{slash}key` 可列出它们。",
    },
    "api_removed": {
        "en": "The key **{name}** is removed. What it is used for ends within a second.",
        "zh": "密钥 **{name}** 已删除，正在使用它的请求会在一秒内结束。",
    },
    "api_none": {
        "en": "No program has a key for this chat. `{slash}key add editor` makes one.",
        "zh": "还没有程序持有本聊天的密钥。`{slash}key add editor` 可创建一个。",
    },
    "api_list": {"en": "**Keys for this chat**", "zh": "**本聊天的密钥**"},
    "api_row": {
        "en": "**{name}**, ends in {last}, last used: {used}",
        "zh": "**{name}**，以 {last} 结尾，最近使用：{used}",
    },
    "api_asks": {
        "en": "A program with one of your keys wants it.",
        "zh": "这是持有您某个密钥的程序提出的。",
    },
    "api_plan": {
        "en": "A program with your key **{name}** proposes: {words}",
        "zh": "持有您密钥 **{name}** 的程序建议：{words}",
    },
    "api_plan_button": {"en": "Set it", "zh": "设置"},
    "api_plan_said": {"en": "Please schedule this: {words}", "zh": "请安排：{words}"},
    "api_plan_gone": {"en": "That proposal is not there any more.", "zh": "该建议已不存在。"},
    "api_never": {"en": "never", "zh": "从未"},
}
