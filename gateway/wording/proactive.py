"""What is said on and about messages that Parley sends by itself: their buttons, and what comes of them."""

TEXTS = {
    "proactive_report": {"en": "**Report: {what}**", "zh": "**报告：{what}**"},
    "proactive_snooze_button": {"en": "Snooze 1 h", "zh": "1 小时后再提醒"},
    "proactive_done_button": {"en": "Done", "zh": "完成"},
    "proactive_less_button": {"en": "Less like this", "zh": "少发这类"},
}
