"""Texts of the command /doctor."""

TEXTS = {
    "doctor_title": {"en": "What I can do in this chat:", "zh": "我在本聊天能做的事："},
    "doctor_probe": {
        "en": "This is a test message; I remove it in a moment.",
        "zh": "这是一条测试消息，马上会删除。",
    },
    "doctor_ignore": {
        "en": "(a test message that I could not remove; please ignore it)",
        "zh": "（一条无法删除的测试消息，请忽略）",
    },
    "doctor_post": {"en": "post a message", "zh": "发送消息"},
    "doctor_edit": {"en": "edit it", "zh": "修改消息"},
    "doctor_react": {"en": "react to a message", "zh": "添加表情回应"},
    "doctor_typing": {"en": "show that I am working", "zh": "显示正在处理"},
    "doctor_upload": {"en": "upload a file", "zh": "上传文件"},
    "doctor_delete": {"en": "delete a message", "zh": "删除消息"},
    "doctor_terminal": {
        "en": "There is nothing to try here: a terminal asks for no permission, and what is written stays. "
        "`parley doctor` checks the rest of this machine.",
        "zh": "这里没有需要检查的：终端不需要权限，写出的内容也无法收回。可用 `parley doctor` 检查这台机器的其余部分。",
    },
    "doctor_well": {
        "en": "Nothing is missing here. `parley doctor` on the machine checks the rest.",
        "zh": "这里什么都不缺。机器上的 `parley doctor` 会检查其余部分。",
    },
    "doctor_broken": {
        "en": "Repair what is marked ✗, then send `{slash}doctor` again. "
        "`parley doctor` on the machine checks the rest.",
        "zh": "请修复标有 ✗ 的项目，然后再发送 `{slash}doctor`。机器上的 `parley doctor` 会检查其余部分。",
    },
}
