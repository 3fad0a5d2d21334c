"""Texts of the list of conversations."""

TEXTS = {
    "sessions": {"en": "Conversations here, last used first:", "zh": "这里的对话（最近使用的在前）："},
    "sessions_none": {"en": "There is no conversation here yet.", "zh": "这里还没有对话。"},
    "sessions_no_more": {"en": "There are no older conversations.", "zh": "没有更早的对话了。"},
    "sessions_choose": {"en": "Go back to a conversation", "zh": "回到某个对话"},
    "sessions_older": {"en": "Older", "zh": "更早的"},
    "sessions_current": {"en": "this one", "zh": "当前对话"},
    "sessions_untitled": {"en": "(no text)", "zh": "（无文字）"},
    "sessions_unbegun": {"en": "nothing said yet", "zh": "还没有内容"},
    "sessions_runs_one": {"en": "1 answer", "zh": "1 次回答"},
    "sessions_runs": {"en": "{count} answers", "zh": "{count} 次回答"},
    "sessions_hint": {
        "en": "{slash}resume ID goes back to one, {slash}rename TITLE names this one.",
        "zh": "{slash}resume 编号 回到某个对话，{slash}rename 标题 为当前对话命名。",
    },
    "resumed": {
        "en": "Back in **{title}**. What I was told there is known again; the files here are as they are now.",
        "zh": "已回到 **{title}**。那里的内容我又记得了；这里的文件保持现状。",
    },
    "resumed_back": {"en": "Back to the other one", "zh": "回到刚才的对话"},
    "resume_unknown": {
        "en": "No conversation here has the id {id}. {slash}sessions lists them.",
        "zh": "这里没有编号为 {id} 的对话，{slash}sessions 会列出所有对话。",
    },
    "resume_current": {"en": "That is the conversation we are in.", "zh": "我们现在就在这个对话里。"},
    "renamed": {"en": "This conversation is called **{title}** now.", "zh": "当前对话现在叫做 **{title}**。"},
}
