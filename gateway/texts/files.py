"""Texts about what people send and Parley cannot read."""

TEXTS = {
    "unread_story": {
        "en": "I cannot read stories. Send me the text or the picture instead.",
        "zh": "我无法读取动态，请改为发送文字或图片。",
    },
    "unread_giveaway": {
        "en": "I cannot read giveaways. Tell me in words what it is about.",
        "zh": "我无法读取抽奖消息，请用文字告诉我它的内容。",
    },
    "unread_paid": {
        "en": "I cannot see media that must be paid for. Send me the picture or the video itself.",
        "zh": "我看不到付费媒体，请直接发送图片或视频。",
    },
    "unread_checklist": {
        "en": "I could not read this checklist. Send me its text instead.",
        "zh": "我无法读取这份清单，请改为发送文字。",
    },
    "unread_poll": {
        "en": "I could not read this poll. Send me its text instead.",
        "zh": "我无法读取这个投票，请改为发送文字。",
    },
    "unread_game": {
        "en": "I could not read this game. Tell me in words what it is about.",
        "zh": "我无法读取这个游戏，请用文字告诉我它的内容。",
    },
    "unread_sticker": {
        "en": "I could not read this sticker. Tell me in words what you mean.",
        "zh": "我看不懂这张贴纸，请用文字告诉我您的意思。",
    },
    "unread_activity": {
        "en": "I cannot join activities or games. Tell me in words what you would like.",
        "zh": "我无法加入活动或游戏，请用文字告诉我您想做什么。",
    },
    "unread_call": {
        "en": "I cannot join calls. Tell me in words what you would like.",
        "zh": "我无法加入通话，请用文字告诉我您想做什么。",
    },
    "unread_app": {
        "en": "I cannot read what this app has posted. Send me its text instead.",
        "zh": "我无法读取这个应用发布的内容，请改为发送文字。",
    },
    "unread_unknown": {
        "en": "I cannot read this kind of message. Send me its text, or a picture of it.",
        "zh": "我无法读取这类消息，请改为发送文字或截图。",
    },
    "file_not_fetched": {
        "en": "> I could not get {name}: {reason}.",
        "zh": "> 无法获取 {name}：{reason}。",
    },
    "file_not_kept": {
        "en": "> I could not keep {name}: {reason}.",
        "zh": "> 无法保存 {name}：{reason}。",
    },
    "file_empty": {
        "en": "> {name} is empty (0 bytes).",
        "zh": "> {name} 是空文件（0 字节）。",
    },
    "files_left_out": {
        "en": "> {count} more files were left out: I take at most {most} with a message. Send the rest separately.",
        "zh": "> 另有 {count} 个文件未接收：每条消息最多 {most} 个，请分开发送其余文件。",
    },
}
