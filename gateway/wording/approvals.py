"""What people are asked, and how it came out."""

TEXTS = {
    "acts_read": {"en": "It looks at the files of this chat.", "zh": "它会查看本聊天的文件。"},
    "acts_write": {"en": "It changes the files of this chat.", "zh": "它会更改本聊天的文件。"},
    "acts_net": {"en": "It sends something to another machine.", "zh": "它会向另一台机器发送内容。"},
    "acts_exec": {"en": "It runs a program.", "zh": "它会运行程序。"},
    "acts_admin": {"en": "It changes schedules, skills or settings.", "zh": "它会更改日程、技能或设置。"},
    "after_strangers": {
        "en": "Strangers may have written some of what was read in this conversation, and may have wanted this.",
        "zh": "本次对话中读到的内容可能出自陌生人之手，这可能是他们的意图。",
    },
    "for_nobody": {
        "en": "nobody is known on whose behalf it would be made",
        "zh": "不知道这是为谁执行的",
    },
    "may_not_speak": {"en": "the person may not speak here any more", "zh": "此人已无权在此发言"},
    "not_allowed": {"en": "That is not allowed here.", "zh": "此处不允许这样做。"},
    "ask_title": {"en": "**May I do this?** ({tool})", "zh": "**可以执行吗？**（{tool}）"},
    "ask_how": {
        "en": "Answer with `{slash}approve {id}` or `{slash}deny {id}` within {minutes} minutes.",
        "zh": "请在 {minutes} 分钟内用 `{slash}approve {id}` 或 `{slash}deny {id}` 回答。",
    },
    "approve_button": {"en": "Approve", "zh": "批准"},
    "deny_button": {"en": "Deny", "zh": "拒绝"},
    "ask_approved": {"en": "✓ Approved by {name}: {what}", "zh": "✓ {name} 已批准：{what}"},
    "ask_denied": {"en": "✗ Denied by {name}: {what}", "zh": "✗ {name} 已拒绝：{what}"},
    "ask_expired": {"en": "✗ Not answered in time: {what}", "zh": "✗ 未及时回答：{what}"},
    "ask_unused": {"en": "✗ The approval ran out before it was used: {what}", "zh": "✗ 批准已过期，未被使用：{what}"},
    "ask_withdrawn": {"en": "✗ Not wanted any more: {what}", "zh": "✗ 已不再需要：{what}"},
    "ask_somebody": {"en": "somebody", "zh": "某人"},
    "ask_unknown": {"en": "There is no question {id} here.", "zh": "这里没有编号为 {id} 的问题。"},
    "ask_not_yours": {
        "en": "Only the person who asked, or an owner, can answer this.",
        "zh": "只有提问者或所有者可以回答它。",
    },
    "ask_too_late": {
        "en": "That is too late: it was not answered in time. Ask for it again if it is still wanted.",
        "zh": "太晚了：未及时回答。如仍需要，请重新提出。",
    },
    "ask_was_approved": {"en": "That has been approved already.", "zh": "已经批准过了。"},
    "ask_was_denied": {"en": "That has been denied already.", "zh": "已经拒绝过了。"},
    "ask_was_withdrawn": {"en": "That is not wanted any more.", "zh": "已不再需要。"},
    "ask_none": {"en": "Nothing here waits for your answer.", "zh": "这里没有等待您回答的问题。"},
    "ask_which": {"en": "Say which one:", "zh": "请说明是哪一个："},
    "status_questions": {"en": "**Questions:** {count} open", "zh": "**待批准：** {count} 个"},
    "waiting_approval": {"en": "Waiting for approval: {label}", "zh": "等待批准：{label}"},
}
