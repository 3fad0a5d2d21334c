"""Texts of the command /export."""

TEXTS = {
    "export_done": {"en": "Here is the export of this chat.", "zh": "这是本聊天的记录。"},
    "export_forms": {"en": "Use {slash}export md, json or html.", "zh": "请发送 {slash}export md、json 或 html。"},
    "export_not_here": {
        "en": "Other people can read this chat, so only an owner can export it.",
        "zh": "这里还有其他人，只有所有者可以导出本聊天。",
    },
    "export_empty": {"en": "There is nothing to export yet.", "zh": "还没有可以导出的内容。"},
    "export_failed": {"en": "I could not write the file. Please try again later.", "zh": "无法写入文件，请稍后再试。"},
    "export_too_large": {
        "en": "The file has {size} MB; at most {most} MB can be sent here.",
        "zh": "文件有 {size} MB，这里最多只能发送 {most} MB。",
    },
}
