"""Everything Parley itself says to people, in one place, in English and Chinese."""

import re
from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

_TEXTS: dict[str, dict[Language, str]] = {
    "stopped": {"en": "Stopped.", "zh": "已停止。"},
    "nothing_to_stop": {"en": "Nothing is running here.", "zh": "这里没有正在运行的任务。"},
    "not_yours": {
        "en": "Only the person who asked, or an owner, can stop this.",
        "zh": "只有提问者或所有者可以停止它。",
    },
    "new_session": {
        "en": "A new conversation begins. Of the last one I keep only what I was told to remember.",
        "zh": "已开始新的对话。上次的内容我只保留您让我记住的。",
    },
    "empty_answer": {
        "en": "The model gave no answer. Please try again or ask differently.",
        "zh": "模型没有给出回答，请重试或换一种问法。",
    },
    "mention_only": {"en": "Yes? Tell me what you need.", "zh": "请告诉我您需要什么。"},
    "unknown_command": {
        "en": "I do not know {slash}{name}. See {slash}help.",
        "zh": "我不认识 {slash}{name}，请看 {slash}help。",
    },
    "slow_down": {
        "en": "That was a lot at once. Please send it again in {seconds} s.",
        "zh": "消息太多了，请 {seconds} 秒后再发一次。",
    },
    "start": {
        "en": "Hello, I am {name}. Write to me as you would to a colleague; {slash}help lists what else I understand.",
        "zh": "您好，我是 {name}。像和同事说话一样给我发消息即可；{slash}help 列出其他命令。",
    },
    "demo": {
        "en": "Right now the **demo model** answers: it is no AI, but its tools are real.",
        "zh": "现在回答您的是**演示模型**：它不是人工智能，但工具是真实的。",
    },
    "help": {"en": "What I understand:", "zh": "可用命令："},
    "language_set": {"en": "I speak English here now.", "zh": "这里现在使用中文。"},
    "language_ask": {"en": "Which language shall I speak here?", "zh": "请选择语言 / Choose a language"},
    "status_model": {"en": "**Model:** {model}", "zh": "**模型：** {model}"},
    "status_context": {
        "en": "**Context:** about {used} of {window} tokens",
        "zh": "**上下文：** 约 {used} / {window} 个词元",
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
    "context_skills": {"en": "\n**Loaded:** {names}", "zh": "\n**已加载：** {names}"},
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
    "status_run": {"en": "**Now:** {state}", "zh": "**当前：** {state}"},
    "status_idle": {"en": "idle", "zh": "空闲"},
    "status_running": {
        "en": "answering for {seconds} s, {waiting} waiting",
        "zh": "已运行 {seconds} 秒，{waiting} 条等待",
    },
    "status_up": {"en": "**Up:** {time}, version {version}", "zh": "**已运行：** {time}，版本 {version}"},
    "status_programs": {"en": "**Programs:** shut in by {sandbox}", "zh": "**程序：** 由 {sandbox} 隔离运行"},
    "status_no_programs": {"en": "**Programs:** none are run here", "zh": "**程序：** 此处不运行程序"},
    "status_no_programs_why": {
        "en": "**Programs:** none are run: {why}",
        "zh": "**程序：** 此处不运行程序：{why}",
    },
    "status_chat": {"en": "**This chat:** `{chat}`", "zh": "**本聊天：** `{chat}`"},
    "stop_button": {"en": "Stop", "zh": "停止"},
    "working": {"en": "Working…", "zh": "处理中…"},
    "retrying": {
        "en": "The model failed; asking it again in {seconds} s",
        "zh": "模型出错，{seconds} 秒后重试",
    },
    "asking_another": {
        "en": "{model} does not answer; asking {other}",
        "zh": "{model} 没有回应，改问 {other}",
    },
    "answered_by": {"en": "Answered by {model}.", "zh": "由 {model} 回答。"},
    "status_resting": {"en": "**Not asked for now:** {models}", "zh": "**暂不使用：** {models}"},
    "resting_for": {"en": "{model} for {minutes} min", "zh": "{model}（{minutes} 分钟）"},
    "cut_off": {"en": "[The answer was too long and ends here]", "zh": "[回答过长，到此为止]"},
    "permission_blocked": {
        "en": "I stopped, because what I wanted to do was refused. Tell me what you would like instead.",
        "zh": "我想做的事被拒绝了，所以停了下来。请告诉我您希望怎么做。",
    },
    "tool_terminated": {"en": "Done.", "zh": "已完成。"},
    "backgrounded": {
        "en": "I go on with this in the background and tell you when it is done.",
        "zh": "我会在后台继续处理，完成后告诉您。",
    },
    "handed_over": {"en": "I have handed this over.", "zh": "我已将此事移交。"},
    "folded": {"en": "{tools}, {seconds} s", "zh": "{tools}，{seconds} 秒"},
    "folded_no_tools": {"en": "Took {seconds} s", "zh": "用时 {seconds} 秒"},
    "one_tool": {"en": "1 tool", "zh": "1 个工具"},
    "many_tools": {"en": "{count} tools", "zh": "{count} 个工具"},
    "max_turns": {
        "en": "[Reached the limit of {most} model calls]",
        "zh": "[达到最大模型调用次数 {most}]",
    },
    "max_tool_calls": {
        "en": "[Reached the limit of {most} tool calls]",
        "zh": "[达到最大工具调用次数 {most}]",
    },
    "budget_exhausted": {"en": "[Reached the budget of this answer]", "zh": "[已达到本次回答的预算]"},
    "acts_read": {"en": "It looks at the files of this chat.", "zh": "它会查看本聊天的文件。"},
    "acts_write": {"en": "It changes the files of this chat.", "zh": "它会更改本聊天的文件。"},
    "acts_net": {"en": "It sends something to another machine.", "zh": "它会向另一台机器发送内容。"},
    "acts_exec": {"en": "It runs a program.", "zh": "它会运行程序。"},
    "acts_admin": {"en": "It changes schedules, skills or settings.", "zh": "它会更改日程、技能或设置。"},
    "after_strangers": {
        "en": "Strangers may have written some of what was read in this conversation, and may have wanted this.",
        "zh": "本次对话中读到的内容可能出自陌生人之手，这可能是他们的意图。",
    },
    "not_allowed": {"en": "That is not allowed here.", "zh": "此处不允许这样做。"},
    "ask_title": {"en": "**May I do this?** ({tool})", "zh": "**可以执行吗？**（{tool}）"},
    "ask_how": {
        "en": "Answer with `{slash}approve {id}` or `{slash}deny {id}` within {minutes} minutes.",
        "zh": "请在 {minutes} 分钟内用 `{slash}approve {id}` 或 `{slash}deny {id}` 回答。",
    },
    "approve_button": {"en": "Approve", "zh": "批准"},
    "deny_button": {"en": "Deny", "zh": "拒绝"},
    "ask_approved": {"en": "✓ Approved by {name}: {what}", "zh": "✓ {name} 已批准：{what}"},
    "ask_denied": {"en": "✗ Denied by {name}: {what}", "zh": "✗ {name} 已拒绝：{what}"},
    "ask_expired": {"en": "✗ Not answered in time: {what}", "zh": "✗ 未及时回答：{what}"},
    "ask_unused": {"en": "✗ The approval ran out before it was used: {what}", "zh": "✗ 批准已过期，未被使用：{what}"},
    "ask_withdrawn": {"en": "✗ Not wanted any more: {what}", "zh": "✗ 已不再需要：{what}"},
    "ask_somebody": {"en": "somebody", "zh": "某人"},
    "ask_unknown": {"en": "There is no question {id} here.", "zh": "这里没有编号为 {id} 的问题。"},
    "ask_not_yours": {
        "en": "Only the person who asked, or an owner, can answer this.",
        "zh": "只有提问者或所有者可以回答它。",
    },
    "ask_too_late": {
        "en": "That is too late: it was not answered in time. Ask for it again if it is still wanted.",
        "zh": "太晚了：未及时回答。如仍需要，请重新提出。",
    },
    "ask_was_approved": {"en": "That has been approved already.", "zh": "已经批准过了。"},
    "ask_was_denied": {"en": "That has been denied already.", "zh": "已经拒绝过了。"},
    "ask_was_withdrawn": {"en": "That is not wanted any more.", "zh": "已不再需要。"},
    "ask_none": {"en": "Nothing here waits for your answer.", "zh": "这里没有等待您回答的问题。"},
    "ask_which": {"en": "Say which one:", "zh": "请说明是哪一个："},
    "status_questions": {"en": "**Questions:** {count} open", "zh": "**待批准：** {count} 个"},
    "waiting_approval": {"en": "Waiting for approval: {label}", "zh": "等待批准：{label}"},
    "skills": {"en": "**Skills** (✓ is loaded):", "zh": "**技能**（✓ 表示已加载）："},
    "skills_none": {"en": "There are no skills here.", "zh": "这里没有技能。"},
    "skills_not_found": {"en": "No skill is about {text}.", "zh": "没有与 {text} 有关的技能。"},
    "skills_more": {
        "en": "- and {count} more: `{slash}skills WORDS` looks for some",
        "zh": "- 另有 {count} 个：可用 `{slash}skills 关键词` 查找",
    },
    "skills_problems": {
        "en": "**To be put right** ({count}, only owners see this):",
        "zh": "**需要修正**（{count} 处，仅所有者可见）：",
    },
    "skills_problems_here": {
        "en": "**To be put right in this chat's files** ({count}):",
        "zh": "**本聊天的文件需要修正**（{count} 处）：",
    },
    "skills_problems_shared": {
        "en": "Files of skills that need a look: {count}. `{slash}skills` in a direct chat shows owners which.",
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
        "en": "Say `{slash}skill load NAME`, `{slash}skill unload NAME` or `{slash}skill reload NAME`; "
        "{slash}skills lists them.",
        "zh": "请用 `{slash}skill load 名称`、`{slash}skill unload 名称` 或 `{slash}skill reload 名称`；"
        "{slash}skills 列出全部技能。",
    },
    "skill_not_yours": {
        "en": "Only an owner can load and unload skills.",
        "zh": "只有所有者可以加载或卸载技能。",
    },
    "skill_loaded": {
        "en": "**{name}** is loaded {where}, and stays so until it is unloaded by command.",
        "zh": "**{name}** 已{where}加载，并会一直保留，直到用命令卸载。",
    },
    "skill_unloaded": {"en": "**{name}** is unloaded {where}.", "zh": "**{name}** 已{where}卸载。"},
    "skill_reloaded": {
        "en": "**{name}** is loaded {where} as its files are now.",
        "zh": "**{name}** 已{where}按文件的当前内容重新加载。",
    },
    "in_this_chat": {"en": "in this chat", "zh": "在本聊天中"},
    "in_this_thread": {"en": "in this thread", "zh": "在本话题中"},
    "skill_from_now": {
        "en": "What is running takes it in with its next step.",
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
        "en": "**{name}** is always loaded: its own file says so.",
        "zh": "**{name}** 始终加载：由其文件设定。",
    },
    "skill_missing": {"en": "**{name}** cannot be loaded: {reason}.", "zh": "**{name}** 无法加载：{reason}。"},
    "skill_failed": {"en": "That did not work: {fact}.", "zh": "操作失败：{fact}。"},
    "task_progress": {"en": "{tools}, now: {doing}", "zh": "{tools}，正在：{doing}"},
    "task_begun": {"en": "in the background, {id}", "zh": "后台任务 {id}"},
    "task_completed": {"en": "**Task {id} is done:** {what}", "zh": "**任务 {id} 已完成：** {what}"},
    "task_failed": {"en": "**Task {id} failed:** {what}", "zh": "**任务 {id} 失败：** {what}"},
    "task_cancelled": {"en": "**Task {id} was cancelled:** {what}", "zh": "**任务 {id} 已取消：** {what}"},
    "task_killed": {"en": "**Task {id} was ended:** {what}", "zh": "**任务 {id} 已被终止：** {what}"},
    "tasks_none": {"en": "Nothing runs in the background here.", "zh": "这里没有后台任务。"},
    "tasks_title": {"en": "Tasks in the background:", "zh": "后台任务："},
    "tasks_line": {
        "en": "- `{id}` {state}, {age}, {tokens} tokens: {what}",
        "zh": "- `{id}` {state}，{age}，{tokens} 词元：{what}",
    },
    "tasks_cancel_button": {"en": "Cancel {id}", "zh": "取消 {id}"},
    "tasks_cancelling": {"en": "Cancelling task {id}.", "zh": "正在取消任务 {id}。"},
    "tasks_unknown": {"en": "There is no task {id} here.", "zh": "这里没有编号为 {id} 的任务。"},
    "tasks_over": {"en": "Task {id} is over already.", "zh": "任务 {id} 已经结束。"},
    "tasks_go_on": {
        "en": "Still in the background: {count}. See {slash}tasks.",
        "zh": "后台仍有 {count} 个任务，请看 {slash}tasks。",
    },
    "status_tasks": {"en": "**In the background:** {count}", "zh": "**后台任务：** {count} 个"},
    "task_state_pending": {"en": "waiting", "zh": "等待中"},
    "task_state_running": {"en": "running", "zh": "运行中"},
    "task_state_waiting": {"en": "waiting for approval", "zh": "等待批准"},
    "task_state_completed": {"en": "done", "zh": "已完成"},
    "task_state_failed": {"en": "failed", "zh": "失败"},
    "task_state_cancelled": {"en": "cancelled", "zh": "已取消"},
    "task_state_killed": {"en": "ended", "zh": "已终止"},
    "export_done": {"en": "Here is this chat.", "zh": "这是本聊天的记录。"},
    "export_forms": {"en": "Say {slash}export md, json or html.", "zh": "请发送 {slash}export md、json 或 html。"},
    "export_not_here": {
        "en": "Others read here, too, so only an owner can export this chat.",
        "zh": "这里还有其他人，只有所有者可以导出本聊天。",
    },
    "export_empty": {"en": "There is nothing to export yet.", "zh": "还没有可以导出的内容。"},
    "export_failed": {"en": "I could not write the file. Please try again later.", "zh": "无法写入文件，请稍后再试。"},
    "export_too_large": {
        "en": "It has {size} MB, and at most {most} MB can be sent here.",
        "zh": "文件有 {size} MB，这里最多只能发送 {most} MB。",
    },
    "error_overflow": {
        "en": "This conversation is too long for the model. Start a new one with {slash}new. (run {run})",
        "zh": "对话太长，模型无法处理。请用 {slash}new 开始新的对话。（运行 {run}）",
    },
    "error_transient": {
        "en": "The model cannot be reached right now. Please try again in a while. (run {run})",
        "zh": "暂时无法连接模型，请稍后再试。（运行 {run}）",
    },
    "error_quota": {
        "en": "The model's account has no quota left. The owner has to look after it. (run {run})",
        "zh": "模型账户的额度已用完，请联系所有者。（运行 {run}）",
    },
    "error_auth": {
        "en": "The model refused our key. The owner has to look after it. (run {run})",
        "zh": "模型拒绝了我们的密钥，请联系所有者。（运行 {run}）",
    },
    "error_invalid": {
        "en": "The model refused this request. Try it in other words, or start anew with {slash}new. (run {run})",
        "zh": "模型拒绝了该请求，请换一种说法，或用 {slash}new 重新开始。（运行 {run}）",
    },
    "error_fatal": {
        "en": "Something went wrong on our side. Please try again. (run {run})",
        "zh": "我们这边出了点问题，请重试。（运行 {run}）",
    },
}


_TOOLS_IN_CHINESE = {
    "calculator": "计算 {expression}",
    "clock": "查看时间",
    "edit_file": "修改 {path}",
    "forget": "忘掉第 {number} 条",
    "grep": "搜索 {pattern}",
    "list_dir": "查看文件",
    "list_skills": "查看技能",
    "load_skill": "加载技能 {name}",
    "load_skill_reference": "读取技能 {skill} 的 {reference}",
    "read_file": "读取 {path}",
    "recall": "查看记忆",
    "remember": "记住：{fact}",
    "run_command": "运行 {call}",
    "run_skill_script": "运行 {call}",
    "send_file": "发送 {path}",
    "unload_skill": "卸载技能 {name}",
    "task": "任务：{prompt}",
    "wait": "等待 {seconds} 秒",
    "web_fetch": "阅读 {url}",
    "web_search": "搜索：{query}",
    "write_file": "写入 {path}",
}
"""What each tool is doing; in English the tools say it themselves. `{call}` is that without its first word."""


def tool_label(tool: str, label: str, facts: Mapping[str, object], language: Language) -> str:
    """What a tool is doing, in that language as far as we know the tool, else as it says itself."""
    text = _TOOLS_IN_CHINESE.get(tool) if language == "zh" else None
    shown = {key: str(value)[:60] for key, value in facts.items()} | {"call": label.partition(" ")[2] or label}
    try:
        return text.format(**shown) if text else label
    except KeyError:  # the model left an argument out
        return label


_REASONS_IN_CHINESE = (
    (re.compile(r"needs one of (.+), of which none is installed"), r"需要安装其中之一：\1"),
    (re.compile(r"needs (.+), which is not installed"), r"需要安装 \1"),
    (re.compile(r"needs (.+), which is not set"), r"需要设置 \1"),
    (re.compile(r"needs (.+)"), r"需要 \1"),
    (re.compile(r"is disabled in its file"), "已在文件中停用"),
)


_PLACES_IN_CHINESE = {"KEEP": "要保留的内容", "WORDS": "关键词", "NAME": "名称", "ID": "编号"}


def arguments_in(arguments: str, language: Language) -> str:
    """What a command takes, as `/help` shows it."""
    if language == "zh":
        for place, chinese in _PLACES_IN_CHINESE.items():
            arguments = arguments.replace(place, chinese)
    return arguments


def skill_reason(reason: str, language: Language) -> str:
    """Why a skill is not available, which skills say in English."""
    if language == "zh":
        for words, chinese in _REASONS_IN_CHINESE:
            if found := words.fullmatch(reason):
                return found.expand(chinese).replace(" or ", " 或 ")
    return reason


def say(key: str, language: Language, **facts: str | int) -> str:
    """The text in that language with the facts filled in. Raises KeyError for a key that is not here."""
    return _TEXTS[key][language].format(**facts)


def language_of(tag: str | None, default: Language) -> Language:
    """Ours for a client's language tag: `zh-hans` is Chinese, anything else unknown is the default."""
    prefix = (tag or "").split("-")[0].lower()
    return next((language for language in LANGUAGES if language == prefix), default)
