"""Texts of the chat commands, and general replies."""

TEXTS = {
    "stopped": {"en": "Stopped.", "zh": "已停止。"},
    "stopped_here": {"en": "(stopped)", "zh": "（已停止）"},
    "unconfirmed": {
        "en": "I'm not sure my last answer reached you.",
        "zh": "不确定您有没有收到我的上一条回答。",
    },
    "show_last": {"en": "Show last answer", "zh": "显示上一条回答"},
    "nothing_unconfirmed": {"en": "All my answers have arrived.", "zh": "我的回答都已送达。"},
    "nothing_to_stop": {"en": "Nothing is running here.", "zh": "这里没有正在运行的任务。"},
    "not_yours": {
        "en": "Only the person who asked, or an owner, can stop this.",
        "zh": "只有提问者或所有者可以停止它。",
    },
    "new_session": {
        "en": "A new conversation begins. Of the last one I keep only what I was told to remember.",
        "zh": "已开始新的对话。上次的内容我只保留您让我记住的。",
    },
    "mention_only": {"en": "Yes? Tell me what you need.", "zh": "请告诉我您需要什么。"},
    "unknown_command": {
        "en": "I do not know {slash}{name}. See {slash}help.",
        "zh": "我不认识 {slash}{name}，请看 {slash}help。",
    },
    "unknown_command_meant": {
        "en": "I do not know {slash}{name}. Did you mean {slash}{meant}?",
        "zh": "我不认识 {slash}{name}，您是想用 {slash}{meant} 吗？",
    },
    "too_many_waiting": {
        "en": "{most} of your messages wait for me already, so I will not answer this one. Please send it again later:",
        "zh": "您已有 {most} 条消息在等我处理，这一条我不会回答了，请稍后再发：",
    },
    "too_many_waiting_more": {
        "en": "{most} of your messages wait for me already, so I will not answer these {count}. Please send them again "
        "later:",
        "zh": "您已有 {most} 条消息在等我处理，以下 {count} 条我不会回答了，请稍后再发：",
    },
    "gap_not_read": {
        "en": "I could not read what was said while I was not listening ({reason}). Chats: {count} ({chats}). What is "
        "written there now is answered; what I missed may need to be sent again.",
        "zh": "我离线期间的消息未能读取（{reason}）。涉及 {count} 个聊天（{chats}）。"
        "现在发来的消息会照常回答，错过的可能需要重新发送。",
    },
    "wait_a_moment": {
        "en": "You have just asked for a lot. Please try that again in {seconds} s.",
        "zh": "您刚才的请求太多了，请 {seconds} 秒后再试一次。",
    },
    "start": {
        "en": "Hello, I am {name}. Write to me as you would to a colleague; {slash}help lists what else I understand.",
        "zh": "您好，我是 {name}。像和同事说话一样给我发消息即可；{slash}help 列出其他命令。",
    },
    "demo": {
        "en": "Right now the **demo model** answers: it is no AI, but its tools are real.",
        "zh": "现在回答您的是**演示模型**：它不是人工智能，但工具是真实的。",
    },
    "help": {"en": "What I understand:", "zh": "可用命令："},
    "language_set": {"en": "I speak English here now.", "zh": "这里现在使用中文。"},
    "language_ask": {"en": "Which language shall I speak here?", "zh": "请选择语言 / Choose a language"},
    "stop_button": {"en": "Stop", "zh": "停止"},
    "export_done": {"en": "Here is this chat.", "zh": "这是本聊天的记录。"},
    "export_forms": {"en": "Say {slash}export md, json or html.", "zh": "请发送 {slash}export md、json 或 html。"},
    "export_not_here": {
        "en": "Others read here, too, so only an owner can export this chat.",
        "zh": "这里还有其他人，只有所有者可以导出本聊天。",
    },
    "export_empty": {"en": "There is nothing to export yet.", "zh": "还没有可以导出的内容。"},
    "export_failed": {"en": "I could not write the file. Please try again later.", "zh": "无法写入文件，请稍后再试。"},
    "export_too_large": {
        "en": "It has {size} MB, and at most {most} MB can be sent here.",
        "zh": "文件有 {size} MB，这里最多只能发送 {most} MB。",
    },
}
