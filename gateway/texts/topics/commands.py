"""Texts of the commands for conversations and status."""

TEXTS = {
    "stopped": {"en": "Stopped.", "zh": "已停止。"},
    "stopped_here": {"en": "(stopped)", "zh": "（已停止）"},
    "nothing_to_stop": {"en": "Nothing is running here.", "zh": "这里没有正在运行的任务。"},
    "stop_too_late": {"en": "That has already ended.", "zh": "那一次已经结束了。"},
    "not_yours": {
        "en": "Only the person who asked, or an admin, can stop this.",
        "zh": "只有提问者或管理员可以停止它。",
    },
    "new_session": {
        "en": "New conversation started. Of the last one I keep only what you asked me to remember.",
        "zh": "已开始新的对话。上次的内容我只保留您让我记住的。",
    },
    "rewind_usage": {
        "en": "Say how many exchanges to take back, as in {slash}rewind 2. Without a number it is one.",
        "zh": "请写上要撤回几轮对话，例如 {slash}rewind 2。不写数字即撤回一轮。",
    },
    "rewind_nothing": {
        "en": "There is nothing to take back in this conversation.",
        "zh": "当前对话中没有可以撤回的内容。",
    },
    "rewound_one": {
        "en": "I no longer know the last exchange. Its messages stay in this chat, and files stay as they are now.",
        "zh": "最近一轮对话我已不再记得。聊天里的消息保留，文件也保持现状。",
    },
    "rewound": {
        "en": "I no longer know the last {count} exchanges. Their messages stay in this chat, and files stay as they "
        "are now.",
        "zh": "最近 {count} 轮对话我已不再记得。聊天里的消息保留，文件也保持现状。",
    },
    "btw_answer": {"en": "*Aside, not part of the conversation:*", "zh": "*顺便回答，不计入对话：*"},
    "btw_stopped": {"en": "I stopped answering your question aside.", "zh": "已停止回答您顺便提的问题。"},
    "btw_no_answer": {
        "en": "The model gave no answer. Ask again with {slash}btw, or without it to let it use its tools.",
        "zh": "模型没有回答。请用 {slash}btw 再问一次，或直接提问，这样它可以使用工具。",
    },
    "queue_empty": {"en": "No messages are waiting here.", "zh": "这里没有等待处理的消息。"},
    "queue_waiting": {"en": "Waiting here, oldest first:", "zh": "正在等待的消息（最早的在前）："},
    "queue_more": {"en": "- and {count} more", "zh": "- 另有 {count} 条"},
    "queue_paused": {
        "en": "Waiting for room in a budget; `{slash}stop` ends it:",
        "zh": "等待预算（发送 `{slash}stop` 可停止）：",
    },
    "waits_gap": {
        "en": "Earlier messages of this chat are still being read.",
        "zh": "还在读取这个聊天里更早的消息。",
    },
    "waits_budget": {
        "en": "A request before it waits for room in a budget.",
        "zh": "之前的一个请求正在等待预算。",
    },
    "waits_pace": {
        "en": "Many messages came in a short time. It goes on in {left}.",
        "zh": "短时间内消息较多，{left}后继续。",
    },
    "waits_trouble": {
        "en": "Something went wrong. It is tried again in {left}.",
        "zh": "出了点问题，{left}后重试。",
    },
    "command_failed": {
        "en": "Something went wrong on our side, and this could not be done. Please tell an owner of this Parley: "
        "the log says why. ({id})",
        "zh": "我们这边出了点问题，未能完成此操作。请告知 Parley 的所有者，日志中有原因。（编号 {id}）",
    },
    "command_failed_owner": {
        "en": "Something went wrong on our side, and this could not be done: {cause}. "
        "The log has more under {id}, and `parley doctor` finds damaged data.",
        "zh": "我们这边出了点问题，未能完成此操作：{cause}。"
        "日志中编号 {id} 处有详情，`parley doctor` 可查出损坏的数据。",
    },
    "waits_drain": {
        "en": "Parley is stopping. It goes on after the next start.",
        "zh": "Parley 正在停止，下次启动后继续。",
    },
    "waits_plugin": {
        "en": "{why} It is looked at again in {left}.",
        "zh": "{why}{left}后再看。",
    },
    "waits_seconds": {"en": "{count} s", "zh": "{count} 秒"},
    "queue_why": {"en": "**Why:** {why}", "zh": "**原因**：{why}"},
    "queue_hint": {
        "en": "`{slash}queue drop NUMBER` drops one, `{slash}queue drop all` drops all of them.",
        "zh": "`{slash}queue drop 编号` 取消一条，`{slash}queue drop all` 全部取消。",
    },
    "queue_drop": {"en": "Drop {number}", "zh": "取消 {number}"},
    "queue_drop_all": {"en": "Drop all", "zh": "全部取消"},
    "queue_dropped_one": {
        "en": "Dropped. I will not answer this message:",
        "zh": "已取消，我不会回答这条消息：",
    },
    "queue_dropped": {
        "en": "Dropped. I will not answer these {count} messages:",
        "zh": "已取消，我不会回答这 {count} 条消息：",
    },
    "queue_gone": {
        "en": "No message with the number {number} waits here for you to drop: I may have begun to answer it. "
        "{slash}queue shows what waits.",
        "zh": "这里没有编号为 {number} 且您可以取消的等待消息：我可能已经开始回答它了。"
        "{slash}queue 会列出等待中的消息。",
    },
    "queue_usage": {
        "en": "Write {slash}queue to see what waits, {slash}queue drop 17 to drop the message with that number, or "
        "{slash}queue drop all.",
        "zh": "发送 {slash}queue 查看等待中的消息，{slash}queue drop 17 取消该编号的消息，"
        "{slash}queue drop all 全部取消。",
    },
    "mention_only": {"en": "Yes? Tell me what you need.", "zh": "请告诉我您需要什么。"},
    "help_for_admins": {
        "en": "{slash}{name} is for people with more rights here. {slash}whoami shows your role.",
        "zh": "{slash}{name} 需要更高的权限。{slash}whoami 可查看您的角色。",
    },
    "form_file": {"en": "File", "zh": "文件"},
    "unknown_command": {
        "en": "Unknown command {slash}{name}. See {slash}help.",
        "zh": "未知命令 {slash}{name}，请看 {slash}help。",
    },
    "unknown_command_meant": {
        "en": "Unknown command {slash}{name}. Did you mean {slash}{meant}?",
        "zh": "未知命令 {slash}{name}，您是想用 {slash}{meant} 吗？",
    },
    "no_ai": {
        "en": "Right now **{model}** answers: it is no AI, but its tools are real.",
        "zh": "现在回答您的是 **{model}**：它不是人工智能，但工具是真实的。",
    },
    "no_model": {
        "en": "No model is set, so nothing answers: `parley connect model` sets one, or *Connect* on the page.",
        "zh": "还没有设置模型，因此没有回答：请运行 `parley connect model`，或在网页的“连接”中设置。",
    },
    "help": {"en": "The main commands:", "zh": "常用命令："},
    "help_all": {"en": "All commands:", "zh": "全部命令："},
    "help_hint": {
        "en": "{slash}help more lists all commands, and {slash}help NAME explains one.",
        "zh": "{slash}help more 列出全部命令，{slash}help 名称 说明其中一个。",
    },
    "more_button": {"en": "More", "zh": "更多"},
    "choice_more": {"en": "More (page {page} of {pages}) …", "zh": "更多（第 {page} 页，共 {pages} 页）…"},
    "choice_first": {"en": "Back to the first page …", "zh": "回到第一页…"},
    "help_more": {"en": "All commands", "zh": "全部命令"},
    "usage": {"en": "Write `{usage}`.", "zh": "请发送 `{usage}`。"},
    "usage_example": {"en": "Write `{usage}`, for example `{example}`.", "zh": "请发送 `{usage}`，例如 `{example}`。"},
    "language_set": {"en": "I will use English here.", "zh": "我会在这里使用中文。"},
    "language_ask": {"en": "Which language should I use here?", "zh": "请选择语言 / Choose a language"},
    "stop_button": {"en": "Stop", "zh": "停止"},
    "status_nodes": {"en": "**Nodes:** {nodes}", "zh": "**节点**：{nodes}"},
    "status_node": {"en": "{name} (chats: {chats})", "zh": "{name}（{chats} 个聊天）"},
    "status_node_unreachable": {
        "en": "{name} (chats: {chats}, cannot reach {platforms})",
        "zh": "{name}（{chats} 个聊天，无法连接 {platforms}）",
    },
    "status_nodes_differ": {
        "en": "Not the same on all nodes: {what}. `parley nodes` shows more.",
        "zh": "各节点不一致的项：{what}。运行 `parley nodes` 查看详情。",
    },
    "status_kept": {
        "en": "**Storage:** messages {store}, files {files}, former versions {versions}, backups {backups}",
        "zh": "**占用空间**：消息 {store}，文件 {files}，旧版本 {versions}，备份 {backups}",
    },
    "status_largest_chats": {"en": "**Largest chats:** {names}", "zh": "**占用最多的聊天**：{names}"},
    "status_largest_people": {"en": "**Largest users:** {names}", "zh": "**占用最多的用户**：{names}"},
    "status_used": {"en": "**Used here today:** {tokens}, {cost}", "zh": "**今天这里的用量**：{tokens}，{cost}"},
    "status_model_facts": {
        "en": "**Thinking:** {thinking}{where}; **price:** {price}",
        "zh": "**思考程度**：{thinking}{where}；**价格**：{price}",
    },
    "status_price_unknown": {"en": "unknown", "zh": "未知"},
    "status_model": {"en": "**Model:** {model}", "zh": "**模型**：{model}"},
    "status_context": {
        "en": "**Context:** about {used} of {window} tokens",
        "zh": "**上下文**：约 {used} / {window} 个词元",
    },
    "context_prompt": {"en": "Instructions", "zh": "指令"},
    "context_tools": {"en": "Tools", "zh": "工具"},
    "context_skill_index": {"en": "List of skills", "zh": "技能列表"},
    "context_loaded_skills": {"en": "Loaded skills", "zh": "已加载的技能"},
    "context_references": {"en": "Skill references", "zh": "技能参考资料"},
    "context_circumstances": {"en": "Environment and memory", "zh": "环境与记忆"},
    "context_conversation": {"en": "Conversation", "zh": "对话"},
    "context_tool_results": {"en": "Tool results", "zh": "工具结果"},
    "context_free": {"en": "Free", "zh": "剩余"},
    "context_skills": {"en": "\n**Loaded:** {names}", "zh": "\n**已加载**：{names}"},
    "compacting": {"en": "Compacting the conversation", "zh": "正在压缩之前的对话"},
    "compacted": {
        "en": "Compacted: about {before} tokens before, {after} now. The last messages are unchanged.",
        "zh": "已压缩：之前约 {before} 个词元，现在约 {after} 个。最近的消息保持原样。",
    },
    "compact_nothing": {"en": "There is nothing to compact yet.", "zh": "目前还没有可以压缩的内容。"},
    "compact_busy": {
        "en": "I am still answering. I compact automatically when needed, or try again when I am done.",
        "zh": "我还在回答。需要时我会自动压缩，也可以等我答完再试。",
    },
    "compact_not_yours": {
        "en": "In a group, only an owner can compact the conversation.",
        "zh": "在群组中，只有所有者可以压缩对话。",
    },
    "status_run": {"en": "**Now:** {state}", "zh": "**当前**：{state}"},
    "status_idle": {"en": "idle", "zh": "空闲"},
    "status_running": {
        "en": "answering for {seconds} s, {waiting} waiting",
        "zh": "已运行 {seconds} 秒，{waiting} 条等待",
    },
    "status_waits": {"en": "waiting. {why}", "zh": "等待中。{why}"},
    "status_paused": {
        "en": "**Budget:** {count} waiting for room, see {slash}queue",
        "zh": "**预算**：{count} 个请求在等待，见 {slash}queue",
    },
    "status_up": {"en": "**Up:** {time}, version {version}", "zh": "**已运行**：{time}，版本 {version}"},
    "status_programs": {"en": "**Programs:** sandboxed by {sandbox}", "zh": "**程序**：由 {sandbox} 隔离运行"},
    "status_no_programs": {"en": "**Programs:** disabled here", "zh": "**程序**：此处不运行程序"},
    "status_no_programs_why": {
        "en": "**Programs:** disabled: {why}",
        "zh": "**程序**：此处不运行程序：{why}",
    },
    "status_chat": {"en": "**This chat:** `{chat}`", "zh": "**本聊天**：`{chat}`"},
    "status_resting": {"en": "**Paused models:** {models}", "zh": "**暂不使用**：{models}"},
    "resting_for": {"en": "{model} for {minutes} min", "zh": "{model}（{minutes} 分钟）"},
}
