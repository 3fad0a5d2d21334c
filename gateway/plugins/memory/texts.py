"""Texts of /memory and of the screen of memories."""

TEXTS = {
    "page_memory": {"en": "Memory", "zh": "记忆"},
    "memory_title": {"en": "**What I remember here**", "zh": "**我在这里记住的内容**"},
    "memory_none": {
        "en": "I remember nothing here yet. Tell me to remember something, or use `{slash}memory add WORDS`.",
        "zh": "这里还没有记住任何内容。您可以让我记住某件事，或使用 `{slash}memory add 内容`。",
    },
    "memory_more": {"en": "- … and {count} older ones", "zh": "- ……还有 {count} 条更早的"},
    "memory_added": {"en": "Remembered: {fact}", "zh": "已记住：{fact}"},
    "memory_known": {"en": "I know that already: {fact}", "zh": "我已经记得：{fact}"},
    "memory_changed": {"en": "Changed: {fact}", "zh": "已更改：{fact}"},
    "memory_forgotten": {"en": "Forgotten: {fact}", "zh": "已忘记：{fact}"},
    "memory_gone": {
        "en": "There is no fact {id} here any more: it was changed or forgotten meanwhile. `{slash}memory` lists what "
        "there is.",
        "zh": "这里已没有 {id} 这条内容：它在此期间被更改或忘记了。`{slash}memory` 列出现有内容。",
    },
    "memory_failed": {"en": "That was not stored: {fact}.", "zh": "没有保存：{fact}。"},
    "memory_how": {
        "en": "Say `{slash}memory add WORDS`, `{slash}memory change ID WORDS` or `{slash}memory forget ID`. "
        "`{slash}memory` lists what there is, with the ids.",
        "zh": "可用：`{slash}memory add 内容`、`{slash}memory change 编号 内容` 或 `{slash}memory forget 编号`。"
        "`{slash}memory` 列出现有内容及编号。",
    },
    "memory_not_yours": {
        "en": "Only owners, and the people of this chat, can do that. In a group, only owners and admins change it.",
        "zh": "只有所有者和此聊天的成员可以这样做。在群组中，只有所有者和管理员可以更改。",
    },
    "memory_tainted": {"en": "⚠ after text from {sources}", "zh": "⚠ 可能来自{sources}的内容"},
    "memory_no_chats": {
        "en": "Nothing is remembered yet. Facts that somebody tells me to remember, or that a summary finds worth "
        "keeping, are listed here by chat.",
        "zh": "还没有记忆。有人让我记住的事，以及总结对话时值得保留的事，会按聊天列在这里。",
    },
    "memory_who": {
        "en": "Owners see the memory of every chat, admins that of their own.",
        "zh": "所有者可以查看每个聊天的记忆，管理员只能查看自己的。",
    },
    "memory_chat": {"en": "Chat", "zh": "聊天"},
    "memory_count": {"en": "Facts", "zh": "条数"},
    "memory_marked": {"en": "Marked as untrusted", "zh": "标记为不可信"},
    "memory_fact": {"en": "Fact", "zh": "内容"},
    "memory_by": {"en": "From", "zh": "来源"},
    "memory_marks": {
        "en": "A marked fact was written after text from others. I find it when I search, but never use it unasked. To "
        "trust it, change it or write it again.",
        "zh": "带标记的内容是在读取他人文字之后写入的。搜索时我能找到它，但不会主动使用。"
        "如要信任它，请更改或重新写入。",
    },
    "memory_change": {"en": "Change", "zh": "更改"},
    "memory_forget": {"en": "Forget", "zh": "忘记"},
    "memory_that": {"en": "{what}: {fact}", "zh": "{what}：{fact}"},
    "memory_add": {"en": "Add a fact", "zh": "添加内容"},
    "memory_remember": {"en": "Remember", "zh": "记住"},
    "memory_empty": {"en": "I remember nothing of this chat yet.", "zh": "我还没有记住此聊天的任何内容。"},
    "memory_all": {"en": "All memories", "zh": "全部记忆"},
}
