"""Texts about voice messages."""

TEXTS = {
    "voice_heard": {"en": "> Heard: {words}", "zh": "> 听到：{words}"},
    "voice_silent": {"en": "> I heard nothing in {name}.", "zh": "> {name} 中没有听到内容。"},
    "voice_unreadable": {
        "en": "> {name} could not be read as audio: {reason}. The file is kept; send it as a voice message or as MP3, "
        "or write instead.",
        "zh": "> 无法将 {name} 作为音频读取：{reason}。文件已保留；请改用语音消息或 MP3 发送，或直接输入文字。",
    },
    "voice_failed": {
        "en": "> {name} could not be transcribed: {reason}. The file is kept; try again later, or write instead.",
        "zh": "> 无法转写 {name}：{reason}。文件已保留；请稍后重试，或直接输入文字。",
    },
    "voice_too_long": {
        "en": "> {name} is longer than {most} minutes, the most that is transcribed. The file is kept; send it in "
        "parts.",
        "zh": "> {name} 超过 {most} 分钟，超出可转写的长度。文件已保留；请分段发送。",
    },
    "voice_too_large": {
        "en": "> {name} is larger than {most} MB, the most that is transcribed. The file is kept; send it in parts.",
        "zh": "> {name} 超过 {most} MB，超出可转写的大小。文件已保留；请分段发送。",
    },
    "voice_no_room": {
        "en": "> {name} was not transcribed, because a budget has no room for it. The file is kept; write instead.",
        "zh": "> {name} 未转写，因为预算已用完。文件已保留；请直接输入文字。",
    },
    "voice_not_set_up": {
        "en": "> I cannot listen to voice messages here yet, so please write.",
        "zh": "> 这里还不能收听语音消息，请输入文字。",
    },
    "voice_not_set_up_owner": {
        "en": "> Voice messages are not transcribed yet: set `PARLEY_TRANSCRIPTION` to `openai/whisper-1` or to the "
        "address of a whisper server, such as `http://127.0.0.1:8000/v1`, and restart.",
        "zh": "> 语音消息尚未转写：请将 `PARLEY_TRANSCRIPTION` 设为 `openai/whisper-1` 或 whisper 服务器的地址"
        "（例如 `http://127.0.0.1:8000/v1`），然后重新启动。",
    },
}
