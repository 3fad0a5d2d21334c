"""Texts about skills."""

TEXTS = {
    "skills_choose": {"en": "Show a skill", "zh": "查看某个技能"},
    "skills": {"en": "**Skills** (✓ is loaded):", "zh": "**技能**（✓ 表示已加载）："},
    "skills_none": {"en": "There are no skills here.", "zh": "这里没有技能。"},
    "skills_not_found": {"en": "No skill is about {text}.", "zh": "没有与 {text} 有关的技能。"},
    "skills_also": {"en": "Also: {names}", "zh": "另有：{names}"},
    "skills_more": {
        "en": "- and {count} more: search with `{slash}skills WORDS`",
        "zh": "- 另有 {count} 个：可用 `{slash}skills 关键词` 查找",
    },
    "skills_problems": {
        "en": "**Problems** ({count}, only owners see this):",
        "zh": "**需要修正**（{count} 处，仅所有者可见）：",
    },
    "skills_problems_here": {
        "en": "**Problems in this chat's files** ({count}):",
        "zh": "**本聊天的文件需要修正**（{count} 处）：",
    },
    "skills_problems_shared": {
        "en": "Skill files with problems: {count}. Owners can see them with `{slash}skills` in a direct chat.",
        "zh": "有 {count} 处技能文件需要查看：所有者可在私聊中用 `{slash}skills` 查看。",
    },
    "skill_is_held": {"en": "kept loaded", "zh": "保持加载"},
    "skill_is_always": {"en": "always loaded", "zh": "始终加载"},
    "skill_is_own": {"en": "of this chat", "zh": "本聊天的"},
    "skill_by_command": {"en": "by command only", "zh": "仅限命令加载"},
    "skill_unavailable": {"en": "Not available: {reason}.", "zh": "不可用：{reason}。"},
    "load_button": {"en": "Load {name}", "zh": "加载 {name}"},
    "unload_button": {"en": "Unload {name}", "zh": "卸载 {name}"},
    "skill_how": {
        "en": "Use `{slash}skill load NAME`, `{slash}skill unload NAME` or `{slash}skill reload NAME` for this chat; "
        "`install`, `update`, `remove`, `lock` and `unlock` for all. {slash}skills lists them.",
        "zh": "本聊天请用 `{slash}skill load 名称`、`{slash}skill unload 名称` 或 `{slash}skill reload 名称`；"
        "对所有聊天请用 `install`、`update`、`remove`、`lock`、`unlock`。{slash}skills 列出全部技能。",
    },
    "skill_not_yours": {
        "en": "Only owners and admins can load and unload skills.",
        "zh": "只有所有者和管理员可以加载或卸载技能。",
    },
    "skill_loaded": {
        "en": "**{name}** is loaded {where}, until it is unloaded by command.",
        "zh": "**{name}** 已{where}加载，并会一直保留，直到用命令卸载。",
    },
    "skill_unloaded": {"en": "**{name}** is unloaded {where}.", "zh": "**{name}** 已{where}卸载。"},
    "skill_reloaded": {
        "en": "**{name}** is loaded {where} as its files are now.",
        "zh": "**{name}** 已{where}按文件的当前内容重新加载。",
    },
    "in_this_chat": {"en": "in this chat", "zh": "在本聊天中"},
    "in_this_channel": {"en": "in this channel and its threads", "zh": "在本频道及其话题中"},
    "in_this_workspace": {"en": "in this whole workspace", "zh": "在整个工作区中"},
    "everywhere": {"en": "everywhere", "zh": "在所有聊天中"},
    "skill_not_loaded_there": {
        "en": "**{name}** was not loaded {where} by command.",
        "zh": "**{name}** 没有用命令{where}加载。",
    },
    "in_this_thread": {"en": "in this thread", "zh": "在本话题中"},
    "skill_from_now": {
        "en": "A running answer uses it from its next step on.",
        "zh": "正在运行的任务会从下一步起生效。",
    },
    "skill_as_it_is": {
        "en": "It was written in this chat: if its files change, it has to be loaded again.",
        "zh": "它是在本聊天中编写的：文件改动后需要重新加载。",
    },
    "skill_unknown": {
        "en": "There is no skill {name} here. {slash}skills lists them.",
        "zh": "这里没有名为 {name} 的技能。{slash}skills 列出全部技能。",
    },
    "skill_too_large": {
        "en": "**{name}** is too large to be loaded. Its author should move details into references.",
        "zh": "**{name}** 过大，无法加载。请作者把细节移到参考文件中。",
    },
    "skill_no_room": {
        "en": "There is no room for **{name}** in this conversation. Unload another skill, or start with {slash}new.",
        "zh": "本次对话放不下 **{name}**。请先卸载其他技能，或用 {slash}new 重新开始。",
    },
    "skill_not_loaded": {"en": "**{name}** is not loaded.", "zh": "**{name}** 没有加载。"},
    "skill_always": {
        "en": "**{name}** is always loaded, as its file says.",
        "zh": "**{name}** 始终加载：由其文件设定。",
    },
    "skill_missing": {"en": "**{name}** cannot be loaded: {reason}.", "zh": "**{name}** 无法加载：{reason}。"},
    "skill_failed": {"en": "That did not work: {fact}.", "zh": "操作失败：{fact}。"},
}
