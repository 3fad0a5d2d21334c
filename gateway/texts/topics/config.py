"""Texts of /config and /reload."""

TEXTS = {
    "config_title": {"en": "Settings that can change here:", "zh": "可以在这里更改的设置："},
    "config_made": {"en": "Settings that differ from their defaults:", "zh": "与默认值不同的设置："},
    "config_others": {
        "en": "{count} settings have their defaults. Change one with `{slash}config set keep_days 60`.",
        "zh": "{count} 项设置为默认值。更改其中一项：`{slash}config set keep_days 60`。",
    },
    "config_row": {"en": "`{name}` = {value} ({source})", "zh": "`{name}` = {value}（{source}）"},
    "config_row_empty": {"en": "`{name}` is empty ({source})", "zh": "`{name}` 未设置（{source}）"},
    "config_default": {"en": "the default", "zh": "默认值"},
    "config_from_chat": {"en": "set in a chat by {by} on {when}", "zh": "由 {by} 于 {when} 在聊天中设置"},
    "origin_environment": {"en": "{name} in the environment", "zh": "环境变量 {name}"},
    "origin_file": {"en": "{name} in {file}", "zh": "{file} 中的 {name}"},
    "origin_line": {"en": "{name} in {file}, line {line}", "zh": "{file} 第 {line} 行的 {name}"},
    "config_from_place": {"en": "from `{place}`", "zh": "来自 `{place}`"},
    "config_usage": {
        "en": "Write `{slash}config set keep_days 60`, `{slash}config get keep_days` or "
        "`{slash}config reset keep_days`.",
        "zh": "请写 `{slash}config set keep_days 60`、`{slash}config get keep_days` 或 "
        "`{slash}config reset keep_days`。",
    },
    "config_unknown": {
        "en": "There is no setting `{name}`. `{slash}config` lists those that can change here.",
        "zh": "没有设置 `{name}`。发送 `{slash}config` 可查看能在这里更改的设置。",
    },
    "config_meant": {
        "en": "There is no setting `{name}`. Did you mean `{meant}`?",
        "zh": "没有设置 `{name}`，您是想用 `{meant}` 吗？",
    },
    "config_never": {
        "en": "`{name}` is never changed from a chat, because it decides about rights, addresses, records or programs. "
        "Set it in .env or parley.toml on the machine, then restart Parley.",
        "zh": "`{name}` 涉及权限、地址、记录或程序，不能在聊天中更改。"
        "请在机器上的 .env 或 parley.toml 中设置，然后重启 Parley。",
    },
    "config_needs_restart": {
        "en": "`{name}` needs a restart: set it in .env or parley.toml on the machine, then restart Parley.",
        "zh": "`{name}` 需要重启才能生效：请在机器上的 .env 或 parley.toml 中设置，然后重启 Parley。",
    },
    "config_bad": {
        "en": "`{value}` is no value for `{name}`, which takes {allowed}. Example: "
        "`{slash}config set {name} {example}`. Nothing was changed.",
        "zh": "`{value}` 不是 `{name}` 的有效值，应为{allowed}。例如：`{slash}config set {name} {example}`。"
        "没有更改任何内容。",
    },
    "config_model_refused": {
        "en": "`{name}` stays as it is: {reason}",
        "zh": "`{name}` 没有更改：{reason}",
    },
    "config_not_in_force": {
        "en": "the models set in a chat cannot be used, so those of the files answer: {reason}",
        "zh": "聊天中设置的模型无法使用，因此使用设置文件中的模型：{reason}",
    },
    "config_token": {
        "en": "I take no keys and tokens in chats. I did not store this one and hide it from now on, but your message "
        "on the platform holds it: delete the message, make a new token, put it into .env on the machine, then restart "
        "Parley.",
        "zh": "我不在聊天中接收密钥和令牌。我没有保存它，从现在起也会隐藏它，但您在平台上发的消息里仍有它："
        "请删除那条消息，换一个新的令牌，写入机器上的 .env，然后重启 Parley。",
    },
    "config_set": {
        "en": "`{name}` is {value} now, {when}. It wins over the files until you send `{slash}config reset {name}`.",
        "zh": "`{name}` 现在是 {value}，{when}。在您发送 `{slash}config reset {name}` 之前，它优先于设置文件。",
    },
    "config_reset": {
        "en": "`{name}` is {value} again ({source}), {when}.",
        "zh": "`{name}` 已恢复为 {value}（{source}），{when}。",
    },
    "config_empty": {"en": "empty", "zh": "空"},
    "config_now": {"en": "from the next message on", "zh": "从下一条消息起生效"},
    "config_tonight": {"en": "from the next nightly work on", "zh": "从下一次夜间维护起生效"},
    "config_next_stop": {"en": "for the next stop", "zh": "下次停止时生效"},
    "allowed_zone": {
        "en": "the name of a time zone, such as Europe/Paris",
        "zh": "时区名称，如 Europe/Paris",
    },
    "allowed_budget": {
        "en": "amounts by day or month with semicolons between them, or none",
        "zh": "按天或按月的额度（用分号隔开），或“无”",
    },
    "allowed_bool": {"en": "on or off", "zh": " on 或 off"},
    "allowed_words": {"en": "one of {words}", "zh": "以下之一：{words}"},
    "allowed_manner": {
        "en": "one of {words}, or a description of at least two words and at most {most} characters",
        "zh": "以下之一：{words}，或不超过 {most} 个字符的描述",
    },
    "allowed_models": {
        "en": "names of models with commas between them, or none for all models",
        "zh": "模型名称（用逗号隔开），或“无”（表示所有模型）",
    },
    "allowed_model": {
        "en": "a model as in PARLEY_MODEL, such as anthropic/claude-sonnet-5, or none",
        "zh": "模型名称（写法同 PARLEY_MODEL，如 anthropic/claude-sonnet-5），或“无”",
    },
    "allowed_model_list": {
        "en": "models as in PARLEY_MODEL with commas between them, or none",
        "zh": "用逗号隔开的模型名称（写法同 PARLEY_MODEL），或“无”",
    },
    "allowed_vision": {
        "en": "on or off, or none to go by what is known of the model",
        "zh": " on 或 off，或“无”（按已知的模型能力）",
    },
    "allowed_text": {"en": "up to {most} characters", "zh": "不超过 {most} 个字符的文字"},
    "allowed_whole_least": {"en": "a whole number from {least} up", "zh": "不小于 {least} 的整数"},
    "allowed_whole_between": {
        "en": "a whole number from {least} to {most}",
        "zh": " {least} 到 {most} 之间的整数",
    },
    "allowed_number_least": {"en": "a number from {least} up", "zh": "不小于 {least} 的数"},
    "allowed_number_above": {"en": "a number above {least}", "zh": "大于 {least} 的数"},
    "allowed_number_between": {"en": "a number from {least} to {most}", "zh": " {least} 到 {most} 之间的数"},
    "reload_none": {"en": "There are no settings files here.", "zh": "这里没有设置文件。"},
    "reload_same": {"en": "Nothing has changed in the files.", "zh": "设置文件没有变化。"},
    "reload_refused": {
        "en": "The files cannot be used, so nothing was changed: {reason}",
        "zh": "设置文件无效，没有更改任何内容：{reason}",
    },
    "reload_done": {"en": "Read again. What is different in the files:", "zh": "已重新读取。设置文件中的变化："},
    "reload_overridden": {
        "en": "without effect until reset, because another value was set in a chat: {names}",
        "zh": "聊天中设置了其他值，重置之前不生效：{names}",
    },
    "reload_restart": {"en": "after a restart: {names}", "zh": "重启后生效：{names}"},
}
