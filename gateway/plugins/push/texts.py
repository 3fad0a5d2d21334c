"""The texts of notifications."""

TEXTS = {
    "push_approval": {"en": "May I do this?", "zh": "可以执行吗？"},
    "push_question": {"en": "A question for you", "zh": "有一个问题等您回答"},
    "push_in_chat": {"en": "In {chat}", "zh": "来自 {chat}"},
    "push_report": {"en": "A report", "zh": "一份报告"},
}
