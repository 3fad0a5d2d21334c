"""Texts about voice messages and spoken answers."""

TEXTS = {
    "speech_on": {
        "en": "Answers here are spoken as well, as an audio file after the text. `{slash}voice off` ends that.",
        "zh": "这里的回答会在文字之后附上语音文件。`{slash}voice off` 可关闭。",
    },
    "speech_off": {
        "en": "Answers here are not spoken. `{slash}voice on` changes that.",
        "zh": "这里的回答不会朗读。`{slash}voice on` 可开启。",
    },
    "speech_how": {
        "en": "Use `{slash}voice on` or `{slash}voice off`.",
        "zh": "请用 `{slash}voice on` 或 `{slash}voice off`。",
    },
    "speech_not_yours": {
        "en": "In groups only owners and admins can switch this.",
        "zh": "群聊中只有所有者和管理员可以切换。",
    },
    "speech_not_set_up": {"en": "Answers cannot be spoken here.", "zh": "这里不能朗读回答。"},
    "speech_not_set_up_owner": {
        "en": "Answers cannot be spoken yet: set `PARLEY_PLUGIN_VOICE_SPEECH` to `openai/tts-1` or to the address of a "
        "speech server, and restart.",
        "zh": "还不能朗读回答：请将 `PARLEY_PLUGIN_VOICE_SPEECH` 设为 `openai/tts-1` 或语音服务器的地址，"
        "然后重新启动。",
    },
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
        "en": "> Voice messages are not transcribed yet: set `PARLEY_PLUGIN_VOICE_TRANSCRIPTION` to `openai/whisper-1` "
        "or to the address of a whisper server, such as `http://127.0.0.1:8000/v1`, and restart.",
        "zh": "> 语音消息尚未转写：请将 `PARLEY_PLUGIN_VOICE_TRANSCRIPTION` 设为 `openai/whisper-1` 或 whisper "
        "服务器的地址（例如 `http://127.0.0.1:8000/v1`），然后重新启动。",
    },
}
