"""Texts of the admin page of settings."""

TEXTS = {
    "page_settings": {"en": "Settings", "zh": "设置"},
    "page_settings_how": {
        "en": "What is changed here wins over the files until it is reset. Tokens and keys are never shown, and are "
        "entered on the page Connect or in .env.",
        "zh": "在这里更改的设置优先于设置文件，直到重置。令牌和密钥从不显示，请在“连接”页面或 .env 中填写。",
    },
    "page_settings_reload": {"en": "Read the files again", "zh": "重新读取设置文件"},
    "page_settings_find": {"en": "Find a setting", "zh": "查找设置"},
    "page_settings_topics": {"en": "Topics", "zh": "主题"},
    "page_settings_yours": {"en": "What you have changed", "zh": "您更改过的"},
    "page_settings_rare": {"en": "{count} that hardly anybody changes", "zh": "另外 {count} 项很少需要更改"},
    "page_settings_on": {"en": "on", "zh": "开"},
    "page_settings_off": {"en": "off", "zh": "关"},
    "page_settings_rule": {"en": "{what}: {word}", "zh": "{what}：{word}"},
    "page_settings_how_to": {"en": "How to change it", "zh": "如何更改"},
    "page_settings_named": {"en": "In files and commands:", "zh": "在文件和命令中："},
    "page_settings_setting": {"en": "Setting", "zh": "设置项"},
    "page_settings_change": {"en": "Change", "zh": "更改"},
    "page_settings_set": {"en": "Set {name}", "zh": "设置 {name}"},
    "page_settings_reset": {"en": "Reset", "zh": "重置"},
    "page_settings_reset_of": {"en": "Reset {name}", "zh": "重置 {name}"},
    "page_settings_takes": {"en": "Takes {takes}; {when}.", "zh": "应为{takes}；{when}。"},
    "page_settings_now": {"en": "holds from the next message on", "zh": "从下一条消息起生效"},
    "page_settings_tonight": {"en": "holds from the next nightly work on", "zh": "从下一次夜间维护起生效"},
    "page_settings_next_stop": {"en": "holds for the next stop", "zh": "下次停止时生效"},
    "page_settings_restart": {
        "en": "Set {name} in .env, then restart Parley.",
        "zh": "请在 .env 中设置 {name}，然后重启 Parley。",
    },
    "page_settings_never": {
        "en": "Only in the files, as it decides about rights, addresses, records or programs: set {name} in .env, then "
        "restart Parley.",
        "zh": "涉及权限、地址、记录或程序，只能在设置文件中更改：请在 .env 中设置 {name}，然后重启 Parley。",
    },
    "page_settings_secret": {"en": "set (hidden)", "zh": "已设置（隐藏）"},
    "page_settings_owners": {"en": "shown to owners only", "zh": "仅所有者可见"},
    "page_settings_empty": {"en": "not set", "zh": "未设置"},
    "page_settings_chosen": {"en": "set by {by},", "zh": "由 {by} 设置，"},
    "page_settings_default": {"en": "default: {value}", "zh": "默认值：{value}"},
    "page_settings_none": {"en": "No setting has these words.", "zh": "没有匹配的设置。"},
    "page_settings_history": {"en": "Last changes", "zh": "最近的更改"},
    "page_settings_changed": {"en": "From → to", "zh": "旧值 → 新值"},
    "page_settings_by": {"en": "By", "zh": "更改者"},
    "page_settings_no_history": {
        "en": "Changes made in chats and on this page appear here, as long as the audit file is kept (30 days).",
        "zh": "在聊天中和本页面上所做的更改会显示在这里，保留时间与审计文件相同（30 天）。",
    },
    "page_when": {"en": "When", "zh": "时间"},
}
