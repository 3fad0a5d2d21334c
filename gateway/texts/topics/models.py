"""Texts of /model and /think, and of the level that a setting is made for."""

TEXTS = {
    "model_test_done": {
        "en": "`{model}` answered after {seconds} s, for {tokens}, {cost}: {answer}",
        "zh": "`{model}` 在 {seconds} 秒后回答，用量 {tokens}，{cost}：{answer}",
    },
    "model_test_failed": {
        "en": "`{model}` did not answer ({seconds} s): {reason}",
        "zh": "`{model}` 没有回答（{seconds} 秒）：{reason}",
    },
    "model_test_no_room": {
        "en": "A budget has no room for the test; see {slash}budget.",
        "zh": "预算不足，无法测试；请看 {slash}budget。",
    },
    "model_test_not_yours": {"en": "Only owners can test models.", "zh": "只有所有者可以测试模型。"},
    "level_thread": {"en": "in this thread", "zh": "本话题"},
    "level_channel": {"en": "in this chat and its threads", "zh": "本聊天及其话题"},
    "level_workspace": {"en": "in this whole workspace or server", "zh": "整个工作区或服务器"},
    "level_installation": {"en": "everywhere", "zh": "所有聊天"},
    "level_not_yours": {
        "en": "In a group only an owner or admin can change this.",
        "zh": "群组中只有所有者或管理员可以更改。",
    },
    "level_everywhere_not_yours": {
        "en": "Only an owner or admin can change this for more than this chat. Leave out the last word to change it "
        "here.",
        "zh": "只有所有者或管理员可以更改其他聊天的设置。去掉最后一个词即可只更改这里。",
    },
    "model_here": {"en": "**{model}** answers here{where}.", "zh": "这里由 **{model}** 回答{where}。"},
    "model_gone": {
        "en": "**{model}** was chosen here, but it is no longer configured, so **{default}** answers.",
        "zh": "这里选择了 **{model}**，但它已不在配置中，现由 **{default}** 回答。",
    },
    "set_at_level": {"en": " (set {level})", "zh": "（设置范围：{level}）"},
    "models_all": {"en": "You can choose:", "zh": "可选模型："},
    "model_row": {"en": "`{model}`: {price}, window {window}{note}", "zh": "`{model}`：{price}，窗口 {window}{note}"},
    "model_entry": {"en": "{price}, window {window}", "zh": "{price}，窗口 {window}"},
    "model_choose": {"en": "Choose a model", "zh": "选择模型"},
    "model_row_no": {"en": "`{model}`: not reachable{why}", "zh": "`{model}`：无法使用{why}"},
    "model_price": {
        "en": "${input} in, ${output} out per million tokens",
        "zh": "每百万词元输入 ${input}、输出 ${output}",
    },
    "model_free": {"en": "free", "zh": "免费"},
    "model_price_unknown": {"en": "price unknown", "zh": "价格未知"},
    "model_is_default": {"en": ", the default", "zh": "，默认"},
    "model_rests": {
        "en": ", failed lately and is asked again in {minutes} min",
        "zh": "，刚才出错，{minutes} 分钟后再试",
    },
    "model_how": {
        "en": "{slash}model NAME changes it here; end with `channel`, `workspace` or `everywhere` for more. "
        "{slash}model default takes it back.",
        "zh": "{slash}model 名称 更改这里的模型；末尾加 channel（频道）、workspace（工作区）或 everywhere（所有聊天）"
        "扩大范围。{slash}model default 恢复默认。",
    },
    "model_set": {
        "en": "**{model}** answers {level}, from the next answer on.",
        "zh": "从下一次回答起，{level}由 **{model}** 回答。",
    },
    "model_set_hidden": {
        "en": "Set {level}. But here **{model}** still answers, which was set {nearer}.",
        "zh": "已设置（{level}）。但这里仍由 **{model}** 回答，它的设置范围更近：{nearer}。",
    },
    "model_unset": {
        "en": "Choice removed {level}. Here **{model}** answers now.",
        "zh": "已取消选择（{level}）。这里现由 **{model}** 回答。",
    },
    "model_unknown": {
        "en": "I know no model `{name}`. {slash}model lists those that can be chosen.",
        "zh": "没有名为 `{name}` 的模型。{slash}model 列出可选的模型。",
    },
    "model_unknown_meant": {
        "en": "I know no model `{name}`. Did you mean `{meant}`?",
        "zh": "没有名为 `{name}` 的模型。您是想用 `{meant}` 吗？",
    },
    "model_unreachable": {
        "en": "`{name}` is configured but could not be used when I started{why}. An owner can fix that and restart me.",
        "zh": "`{name}` 已配置，但启动时无法使用{why}。所有者修复后请重启。",
    },
    "model_not_for_you": {
        "en": "`{model}` is not open to your role. {slash}model lists the models that are.",
        "zh": "您的角色不能使用 `{model}`。{slash}model 列出您可用的模型。",
    },
    "model_not_for_them": {
        "en": "`{model}` is not open to the role of the person whose message it was.",
        "zh": "消息发送者的角色不能使用 `{model}`。",
    },
    "think_here": {
        "en": "Thinking before an answer is **{thinking}** here{where}. Choose a level:",
        "zh": "这里回答前的思考程度：**{thinking}**{where}。请选择：",
    },
    "think_set": {
        "en": "Thinking is **{thinking}** {level}, from the next answer on.",
        "zh": "从下一次回答起，{level}的思考程度为 **{thinking}**。",
    },
    "think_set_hidden": {
        "en": "Set {level}. But here thinking stays **{thinking}**, which was set {nearer}.",
        "zh": "已设置（{level}）。但这里的思考程度仍为 **{thinking}**，它的设置范围更近：{nearer}。",
    },
    "think_no_effect": {
        "en": "**{model}** does not think in levels, so this takes effect when a model answers that does.",
        "zh": "**{model}** 不支持思考程度；换成支持的模型后才会生效。",
    },
    "think_unknown": {
        "en": "`{name}` is no level of thinking. Use one of {levels}, or `default`, as in {slash}think high.",
        "zh": "没有 `{name}` 这个思考程度。可用：{levels} 或 `default`，例如 {slash}think high。",
    },
    "default_button": {"en": "Default", "zh": "默认"},
}
