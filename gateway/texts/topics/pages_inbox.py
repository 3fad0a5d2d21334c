"""Texts of the screen of approvals, questions and strangers."""

TEXTS = {
    "page_inbox": {"en": "Inbox", "zh": "待办"},
    "inbox_empty": {
        "en": "Nothing waits for you. When I ask to do something in a chat, ask somebody a question, or a stranger "
        "writes to me, it appears here by itself.",
        "zh": "没有待处理的事项。当我在聊天中请求许可、向人提问，或有陌生人来信时，会自动出现在这里。",
    },
    "inbox_approval": {"en": "May I do this?", "zh": "可以执行吗？"},
    "inbox_question": {"en": "A question", "zh": "一个问题"},
    "inbox_stranger": {"en": "A stranger", "zh": "陌生人"},
    "inbox_from": {"en": "For {person}, in {chat}", "zh": "为 {person}，于 {chat}"},
    "inbox_asked": {"en": "asked", "zh": "提出于"},
    "inbox_expires": {"en": "expires", "zh": "到期"},
    "inbox_tool": {"en": "Tool:", "zh": "工具："},
    "inbox_why": {"en": "Why this is asked", "zh": "询问的原因"},
    "inbox_setting": {"en": "The setting that decides:", "zh": "依据的设置："},
    "inbox_no_why": {"en": "The reason was not recorded.", "zh": "没有记录原因。"},
    "inbox_not_yours": {
        "en": "You may not read this. Only the person who asked, and owners, can see and answer it.",
        "zh": "您无权查看。只有提问者本人和所有者可以查看并回答。",
    },
    "inbox_answer": {"en": "Answer", "zh": "回答"},
    "inbox_own_words": {"en": "Your answer", "zh": "您的回答"},
    "inbox_allow_one": {"en": "Allow once: {what}", "zh": "允许一次：{what}"},
    "inbox_always_one": {"en": "Always here: {what}", "zh": "此处总是允许：{what}"},
    "inbox_turn_down": {"en": "Deny or ignore", "zh": "拒绝或忽略"},
    "inbox_deny_one": {"en": "Deny: {what}", "zh": "拒绝：{what}"},
}
