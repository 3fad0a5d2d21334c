"""Texts of what was used."""

TEXTS = {
    "usage_of_person": {"en": "**Your usage, {days}** ({zone})", "zh": "**您的用量，{days}**（{zone}）"},
    "usage_of_chat": {"en": "**Usage in this chat, {days}** ({zone})", "zh": "**本聊天的用量，{days}**（{zone}）"},
    "usage_of_all": {"en": "**Usage of everything, {days}** ({zone})", "zh": "**全部用量，{days}**（{zone}）"},
    "usage_none": {"en": "The model has not been called.", "zh": "没有调用过模型。"},
    "usage_words": {"en": "{calls} calls, {tokens}, {cost}", "zh": "{calls} 次调用，{tokens}，{cost}"},
    "usage_words_one": {"en": "1 call, {tokens}, {cost}", "zh": "1 次调用，{tokens}，{cost}"},
    "usage_estimated": {
        "en": "≈ {tokens} of this are estimated: the calls came with no count.",
        "zh": "≈ 其中 {tokens} 是估计值：这些调用没有附带用量。",
    },
    "usage_usage": {
        "en": "Write for example `{slash}usage`, `{slash}usage here month` or `{slash}usage all week`.",
        "zh": "例如：`{slash}usage`、`{slash}usage 这里 本月` 或 `{slash}usage 全部 本周`。",
    },
    "usage_not_yours": {
        "en": "Only owners and admins can see the usage of everybody.",
        "zh": "只有所有者和管理员可以查看所有人的用量。",
    },
}
