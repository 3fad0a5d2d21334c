"""Texts about budgets and usage."""

TEXTS = {
    "amount_unclear": {
        "en": "I do not understand this amount. It takes a number, USD or tokens, and a day or a month.",
        "zh": "我没看懂这个数额。请写明数字、美元或词元，以及每天或每月。",
    },
    "amount_other_currency": {
        "en": "Budgets are in US dollars or tokens. Please give the amount in one of these.",
        "zh": "预算只能用美元或词元，请换算后再设置。",
    },
    "amount_not_positive": {"en": "A budget must be more than zero.", "zh": "预算必须大于零。"},
    "amount_too_large": {
        "en": "That is more than a budget can hold: at most a billion dollars, or a trillion tokens.",
        "zh": "这个数额太大了：最多十亿美元或一万亿词元。",
    },
    "budget_usage": {
        "en": "Set one with `{slash}budget here 5 USD a day`, `{slash}budget me 100k tokens a month` or "
        "`{slash}budget all 50 USD a month`; remove it with `{slash}budget here off`.",
        "zh": "设置：`{slash}budget 这里 每天 5 美元`、`{slash}budget 我 每月 10万词元` 或 "
        "`{slash}budget 全部 每月 50 美元`；取消：`{slash}budget 这里 取消`。",
    },
    "budget_title": {"en": "**Budgets**", "zh": "**预算**"},
    "budget_none": {"en": "No budget is set here.", "zh": "这里没有设置预算。"},
    "budget_line": {
        "en": "- {whose}: {allowance}, of which {used} are used ({percent} %)",
        "zh": "- {whose}：{allowance}，已用 {used}（{percent}%）",
    },
    "budget_line_default": {
        "en": "- {whose}: {allowance} (from the settings), of which {used} are used ({percent} %)",
        "zh": "- {whose}：{allowance}（来自设置），已用 {used}（{percent}%）",
    },
    "budget_of_here": {"en": "This chat", "zh": "本聊天"},
    "budget_of_chat": {"en": "Chat {name}", "zh": "聊天 {name}"},
    "budget_of_person": {"en": "{name} in all chats", "zh": "{name}（所有聊天）"},
    "budget_of_job": {"en": "Job {name}", "zh": "日程 {name}"},
    "budget_of_all": {"en": "Everything together", "zh": "全部合计"},
    "budget_set": {
        "en": "The budget is set. What waits for it goes on if there is room now.",
        "zh": "预算已设置。如果额度足够，等待中的运行会继续。",
    },
    "budget_high_enough": {"en": "The budget is that high already.", "zh": "预算已经有这么高了。"},
    "budget_removed": {"en": "The budget is removed.", "zh": "预算已取消。"},
    "budget_nothing_to_remove": {
        "en": "No budget was set here with a command. Those of the settings are changed there.",
        "zh": "这里没有用命令设置的预算；来自设置的预算请在设置中修改。",
    },
    "budget_not_yours": {
        "en": "Only owners and admins can change budgets.",
        "zh": "只有所有者和管理员可以更改预算。",
    },
    "budget_not_shown": {
        "en": "Only owners and admins can see this budget.",
        "zh": "只有所有者和管理员可以查看这个预算。",
    },
    "budget_no_job": {
        "en": "There is no job {id} here. See {slash}cron list.",
        "zh": "这里没有日程 {id}，请看 {slash}cron list。",
    },
    "budget_gone": {"en": "I no longer know whose budget this is.", "zh": "我已经不知道这是谁的预算了。"},
    "budget_near": {
        "en": "{percent} % of a budget are used. {whose}: {allowance}, of which {used} are used.",
        "zh": "预算已用 {percent}%。{whose}：{allowance}，已用 {used}。",
    },
    "budget_up": {
        "en": "A budget has no room for the next step. {whose}: {allowance}, of which {used} are used; the next call "
        "to the model may cost {needed}.\n\nI go on when an owner or admin raises it, or on {day}.",
        "zh": "预算不足，无法继续。{whose}：{allowance}，已用 {used}；下一次调用模型最多需要 {needed}。\n\n"
        "所有者或管理员提高预算后，或到 {day}，我会继续。",
    },
    "budget_raise_button": {"en": "Raise to {allowance}", "zh": "提高到{allowance}"},
}
