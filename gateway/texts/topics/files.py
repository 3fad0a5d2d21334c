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
    "unread_file": {
        "en": "I could not read a file of this message. Send it again.",
        "zh": "我无法读取这条消息中的一个文件，请重新发送。",
    },
    "unread_part": {
        "en": "I could not read a part of this message. Send me that part as text.",
        "zh": "这条消息有一部分我无法读取，请以文字发送那一部分。",
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
    "file_why_too_large": {
        "en": "it is too large; at most {limit} MB arrive here",
        "zh": "文件过大，这里最多 {limit} MB",
    },
    "file_why_gone": {
        "en": "it no longer exists; send it again",
        "zh": "文件已不存在，请重新发送",
    },
    "file_why_kept_back": {
        "en": "it is not given to me; send it to me directly",
        "zh": "平台没有把它交给我，请直接发给我",
    },
    "file_why_not_allowed": {
        "en": "I am not allowed to read it; the owner finds out why with the doctor",
        "zh": "我没有读取权限，所有者可以用诊断命令查看原因",
    },
    "file_why_unreachable": {
        "en": "it could not be reached; send it again later",
        "zh": "暂时无法取得，请稍后重新发送",
    },
    "file_why_no_room": {
        "en": "there is no room left for the files of this chat; ask me to delete some",
        "zh": "此聊天的文件空间已满，可以让我删除一些",
    },
    "file_why_disk_full": {
        "en": "the disk is full",
        "zh": "磁盘已满",
    },
    "file_why_other": {
        "en": "{reason}",
        "zh": "原因是“{reason}”",
    },
    "file_empty": {
        "en": "> {name} is empty (0 bytes).",
        "zh": "> {name} 是空文件（0 字节）。",
    },
    "pictures_unseen": {
        "en": "> I cannot see {names}: I see pictures only as PNG, JPEG, GIF or WebP. Programs here can use the file.",
        "zh": "> 我看不到 {names}：图片仅支持 PNG、JPEG、GIF 和 WebP。文件已保存，可供程序使用。",
    },
    "files_left_out": {
        "en": "> {count} more files were left out: I take at most {most} with a message. Send the rest separately.",
        "zh": "> 另有 {count} 个文件未接收：每条消息最多 {most} 个，请分开发送其余文件。",
    },
}
