"""Texts of the command /voice."""

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
        "en": "Answers cannot be spoken yet: set `PARLEY_SPEECH` to `openai/tts-1` or to the address of a speech "
        "server, and restart.",
        "zh": "还不能朗读回答：请将 `PARLEY_SPEECH` 设为 `openai/tts-1` 或语音服务器的地址，然后重新启动。",
    },
}
