"""Texts about the status of the program, its model and its context, and about maintenance."""

TEXTS = {
    "work_failed": {
        "en": "A part of me failed and was started again: {name} ({error}). The log says more.",
        "zh": "我的一个部分出错，已重新启动：{name}（{error}）。详情见日志。",
    },
    "backup_failed": {
        "en": "Tonight's backup was not made: {why}. `parley doctor` says more.",
        "zh": "今晚的备份没有完成：{why}。运行 `parley doctor` 可了解详情。",
    },
    "said_before_restore": {
        "en": "I was put back to {backup} from a backup, on {restored}. This was said in between, and I did not answer "
        "it ({count}):\n{lines}",
        "zh": "我已于 {restored} 从 {backup} 的备份恢复。以下是这段时间里的消息（{count} 条），我没有回复：\n{lines}",
    },
    "status_kept": {
        "en": "**Kept:** messages {store}, files {files}, former versions {versions}, backups {backups}",
        "zh": "**占用空间**：消息 {store}，文件 {files}，旧版本 {versions}，备份 {backups}",
    },
    "status_largest_chats": {"en": "**Largest chats:** {names}", "zh": "**占用最多的聊天**：{names}"},
    "status_largest_people": {"en": "**Filled by people:** {names}", "zh": "**占用最多的用户**：{names}"},
    "status_model": {"en": "**Model:** {model}", "zh": "**模型**：{model}"},
    "status_context": {
        "en": "**Context:** about {used} of {window} tokens",
        "zh": "**上下文**：约 {used} / {window} 个词元",
    },
    "context_prompt": {"en": "Instructions", "zh": "指令"},
    "context_tools": {"en": "Tools", "zh": "工具"},
    "context_skill_index": {"en": "List of skills", "zh": "技能列表"},
    "context_loaded_skills": {"en": "Skills in use", "zh": "已加载的技能"},
    "context_references": {"en": "Their references", "zh": "技能参考资料"},
    "context_circumstances": {"en": "Circumstances and memory", "zh": "环境与记忆"},
    "context_conversation": {"en": "Conversation", "zh": "对话"},
    "context_tool_results": {"en": "Results of tools", "zh": "工具结果"},
    "context_free": {"en": "Free", "zh": "剩余"},
    "context_skills": {"en": "\n**Loaded:** {names}", "zh": "\n**已加载**：{names}"},
    "compacting": {"en": "Shortening what was said earlier", "zh": "正在压缩之前的对话"},
    "compacted": {
        "en": "Shortened: about {before} tokens before, {after} now. The last messages stay as they are.",
        "zh": "已压缩：之前约 {before} 个词元，现在约 {after} 个。最近的消息保持原样。",
    },
    "compact_nothing": {"en": "There is nothing to shorten yet.", "zh": "目前还没有可以压缩的内容。"},
    "compact_busy": {
        "en": "I am still answering. I shorten by myself where it is needed; or ask again when I am done.",
        "zh": "我还在回答。需要时我会自动压缩，也可以等我答完再试。",
    },
    "compact_not_yours": {
        "en": "In a group, only an owner can have the conversation shortened.",
        "zh": "在群组中，只有所有者可以压缩对话。",
    },
    "status_run": {"en": "**Now:** {state}", "zh": "**当前**：{state}"},
    "status_idle": {"en": "idle", "zh": "空闲"},
    "status_running": {
        "en": "answering for {seconds} s, {waiting} waiting",
        "zh": "已运行 {seconds} 秒，{waiting} 条等待",
    },
    "status_up": {"en": "**Up:** {time}, version {version}", "zh": "**已运行**：{time}，版本 {version}"},
    "status_programs": {"en": "**Programs:** shut in by {sandbox}", "zh": "**程序**：由 {sandbox} 隔离运行"},
    "status_no_programs": {"en": "**Programs:** none are run here", "zh": "**程序**：此处不运行程序"},
    "status_no_programs_why": {
        "en": "**Programs:** none are run: {why}",
        "zh": "**程序**：此处不运行程序：{why}",
    },
    "status_chat": {"en": "**This chat:** `{chat}`", "zh": "**本聊天**：`{chat}`"},
    "status_resting": {"en": "**Not asked for now:** {models}", "zh": "**暂不使用**：{models}"},
    "resting_for": {"en": "{model} for {minutes} min", "zh": "{model}（{minutes} 分钟）"},
}
