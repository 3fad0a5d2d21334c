"""Texts about the progress and the end of runs, and about background tasks."""

TEXTS = {
    "run_revoked": {
        "en": "Stopped, because its sender may no longer speak with me here.",
        "zh": "已停止：发起者已不能在这里与我对话。",
    },
    "empty_answer": {
        "en": "The model gave no answer. Please try again or ask differently.",
        "zh": "模型没有给出回答，请重试或换一种问法。",
    },
    "waiting_budget": {"en": "Waiting: a budget is used up", "zh": "等待中：预算已用完"},
    "working": {"en": "Working…", "zh": "处理中…"},
    "retrying": {
        "en": "The model failed; retrying in {seconds} s",
        "zh": "模型出错，{seconds} 秒后重试",
    },
    "asking_another": {
        "en": "{model} does not respond; trying {other}",
        "zh": "{model} 没有回应，改用 {other}",
    },
    "answered_by": {"en": "Answered by {model}.", "zh": "由 {model} 回答。"},
    "cut_off": {"en": "[The answer was too long and ends here]", "zh": "[回答过长，到此为止]"},
    "permission_blocked": {
        "en": "I stopped, because what I wanted to do was refused. Tell me what you would like instead.",
        "zh": "我想做的事被拒绝了，所以停了下来。请告诉我您希望怎么做。",
    },
    "tool_terminated": {"en": "Done.", "zh": "已完成。"},
    "backgrounded": {
        "en": "I will continue in the background and tell you when it is done.",
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
    "max_seconds": {"en": "[Reached the limit of {most} minutes]", "zh": "[已达到 {most} 分钟的时限]"},
    "repeated_calls": {
        "en": "[I stopped, because the same step kept giving the same result]",
        "zh": "[同一步骤反复得到相同的结果，所以我停了下来]",
    },
    "set_aside": {
        "en": "I was interrupted three times at the same point, so I have stopped. Press Continue to try once more.",
        "zh": "我在同一处连续三次被中断，所以先停了下来。按“继续”，我会再试一次。",
    },
    "run_damaged": {
        "en": "I was interrupted, and what I was asked can no longer be read, as the disk has damaged it. "
        "Please ask again.",
        "zh": "我的工作曾被中断，而您当时的问题因磁盘损坏已无法读取。请再问一次。",
    },
    "continue_button": {"en": "Continue", "zh": "继续"},
    "continue_words": {"en": "Please continue where you stopped.", "zh": "请从停下的地方继续。"},
    "retry_button": {"en": "Try again", "zh": "重试"},
    "retry_words": {"en": "Please try to answer that again.", "zh": "请再试着回答一次。"},
    "retry_nothing": {
        "en": "There is nothing to try again here any more.",
        "zh": "这里没有可以重试的内容了。",
    },
    "retry_not_yours": {
        "en": "Only the person whose message it was, or an admin, can have it answered again.",
        "zh": "只有消息的发送者或管理员可以让我重新回答。",
    },
    "reword_offer": {
        "en": "You edited your message after I had begun to act on it, so I did not start again. What I did "
        "stays, files too.",
        "zh": "您修改消息时，我已经按原来的内容开始操作，所以没有重新开始。已做的更改（包括文件）会保留。",
    },
    "reword_button": {"en": "Answer again with the new words", "zh": "按修改后的内容重新回答"},
    "retry_files": {
        "en": "I am answering again. What I changed while answering the first time stays changed, files too.",
        "zh": "我正在重新回答。上次回答时所做的更改（包括文件）会保留。",
    },
    "continue_nothing": {
        "en": "There is nothing to continue here any more.",
        "zh": "这里没有可以继续的内容了。",
    },
    "continue_not_yours": {
        "en": "Only the person who asked, or an owner, can continue this.",
        "zh": "只有提问者或所有者可以让它继续。",
    },
    "budget_exhausted": {"en": "[Reached the budget of this answer]", "zh": "[已达到本次回答的预算]"},
    "error_overflow": {
        "en": "This conversation is too long for the model. Start a new one with {slash}new. (run {run})",
        "zh": "对话太长，模型无法处理。请用 {slash}new 开始新的对话。（运行 {run}）",
    },
    "error_spent": {
        "en": "A budget has no room for this. See {slash}budget. (run {run})",
        "zh": "预算已用完，无法完成。请看 {slash}budget。（运行 {run}）",
    },
    "error_transient": {
        "en": "The model's answer was cut off. Please try again in a while. (run {run})",
        "zh": "模型中途断开了，请稍后再试。（运行 {run}）",
    },
    "error_network": {
        "en": "The model cannot be reached right now. Please try again in a while. (run {run})",
        "zh": "暂时无法连接模型，请稍后再试。（运行 {run}）",
    },
    "error_handles": {
        "en": "This machine cannot open any more connections right now. Please try again in a while. (run {run})",
        "zh": "本机暂时无法打开更多连接，请稍后再试。（运行 {run}）",
    },
    "error_server": {
        "en": "The model's provider is having problems right now. Please try again in a while. (run {run})",
        "zh": "模型服务商暂时出了问题，请稍后再试。（运行 {run}）",
    },
    "error_memory": {
        "en": "The machine of the model has too little memory for it. (run {run})",
        "zh": "运行模型的机器内存不足。（运行 {run}）",
    },
    "error_rate_limit": {
        "en": "The model's rate limit is reached. Please try again {wait}. (run {run})",
        "zh": "模型请求过于频繁，请{wait}再试。（运行 {run}）",
    },
    "wait_a_while": {"en": "in a while", "zh": "稍后"},
    "wait_seconds": {"en": "in {count} seconds", "zh": "在 {count} 秒后"},
    "wait_minutes": {"en": "in {count} minutes", "zh": "在 {count} 分钟后"},
    "wait_hours": {"en": "in {count} hours", "zh": "在 {count} 小时后"},
    "error_quota": {
        "en": "The model's account has no quota left. (run {run})",
        "zh": "模型账户的额度已用完。（运行 {run}）",
    },
    "error_auth": {
        "en": "The model's provider refused the key. (run {run})",
        "zh": "模型服务商拒绝了密钥。（运行 {run}）",
    },
    "error_no_model": {
        "en": "No model is set yet, so nothing can answer; whoever runs Parley can set one. (run {run})",
        "zh": "还没有设置模型，因此无法回答；运行 Parley 的人可以设置。（运行 {run}）",
    },
    "error_not_found": {
        "en": "The configured model was not found. (run {run})",
        "zh": "找不到所设置的模型。（运行 {run}）",
    },
    "error_region": {
        "en": "The model's provider does not serve the place where Parley runs. (run {run})",
        "zh": "模型服务商不向 Parley 所在的地区提供服务。（运行 {run}）",
    },
    "error_content": {
        "en": "The model's provider refused to answer this. Please rephrase it. (run {run})",
        "zh": "模型服务商拒绝回答，请换一种说法。（运行 {run}）",
    },
    "error_unfinished": {
        "en": "The model ended its answer in an unusual way, so it may not be whole. Please try again. (run {run})",
        "zh": "模型以不寻常的方式结束了回答，内容可能不完整，请重试。（运行 {run}）",
    },
    "error_protocol": {
        "en": "At the address that is set for the model, something else answers. (run {run})",
        "zh": "所设置的模型地址上，应答的不是模型。（运行 {run}）",
    },
    "error_parameter": {
        "en": "The model's server does not take requests as Parley writes them; a new conversation would not change "
        "that. An owner can choose another model. (run {run})",
        "zh": "模型服务器不接受 Parley 的请求格式，新开对话也没用；请由所有者更换模型。（运行 {run}）",
    },
    "no_tools": {
        "en": "_{model} takes no tools, so it can only talk: no files, no searches, no reminders._",
        "zh": "_{model} 不支持工具，只能聊天：不能读文件、查资料或设提醒。_",
    },
    "error_invalid": {
        "en": "The model rejected this request. If this continues, start a new conversation with {slash}new. "
        "(run {run})",
        "zh": "模型没有接受该请求。如果一直这样，请用 {slash}new 重新开始。（运行 {run}）",
    },
    "trouble_details": {"en": "{model} answered: {answer}.", "zh": "{model} 的回复：{answer}。"},
    "trouble_lost": {"en": "{model}: {answer}.", "zh": "{model}：{answer}。"},
    "trouble_away": {"en": "Nothing answers at `{address}`.", "zh": "`{address}` 没有应答。"},
    "fix_own_server": {
        "en": "Start that server again, or set up another model with `parley connect model`.",
        "zh": "请重新启动该服务器，或用 `parley connect model` 设置其他模型。",
    },
    "fix_overflow": {
        "en": "`{slash}context` shows what fills its window.",
        "zh": "用 `{slash}context` 查看上下文的占用。",
    },
    "fix_transient": {
        "en": "If this continues, set a fallback model in `PARLEY_FALLBACKS`.",
        "zh": "如果一直这样，请在 `PARLEY_FALLBACKS` 中设置备用模型。",
    },
    "fix_network": {
        "en": "Check this machine's network, and `OPENAI_BASE_URL` if the model runs on a server of your own.",
        "zh": "请检查本机网络；如果用的是自己的服务器，请检查 `OPENAI_BASE_URL`。",
    },
    "fix_handles": {
        "en": "Raise the limit on open files (`ulimit -n 1024`, or `LimitNOFILE=1024` for a service of systemd).",
        "zh": "请提高可打开文件数的上限（`ulimit -n 1024`，systemd 服务则用 `LimitNOFILE=1024`）。",
    },
    "fix_server": {
        "en": "You can set a fallback model in `PARLEY_FALLBACKS`.",
        "zh": "可以在 `PARLEY_FALLBACKS` 中设置备用模型。",
    },
    "fix_memory": {
        "en": "Free memory there, or set a smaller model in `PARLEY_MODEL`.",
        "zh": "请在那台机器上释放内存，或在 `PARLEY_MODEL` 中设置较小的模型。",
    },
    "fix_rate_limit": {
        "en": "Raise its limit with the provider, or set a fallback model in `PARLEY_FALLBACKS`.",
        "zh": "请在服务商处提高限额，或在 `PARLEY_FALLBACKS` 中设置备用模型。",
    },
    "fix_quota": {
        "en": "Top up the account of `{setting}`, or set another key, and restart Parley.",
        "zh": "请为 `{setting}` 所属的账户充值，或换一个密钥后重启 Parley。",
    },
    "fix_auth": {
        "en": "Set `{setting}` again and restart Parley; `./run doctor` checks it.",
        "zh": "请重新设置 `{setting}` 并重启 Parley；`./run doctor` 可以检查。",
    },
    "fix_not_found": {
        "en": "Check the name in `PARLEY_MODEL`, and `OPENAI_BASE_URL` if the model runs on a server of your own.",
        "zh": "请检查 `PARLEY_MODEL` 中的名称；如果用的是自己的服务器，请检查 `OPENAI_BASE_URL`。",
    },
    "fix_region": {
        "en": "This is not about the key: `PARLEY_MODEL` sets a model of a provider that serves it.",
        "zh": "这与密钥无关，可用 `PARLEY_MODEL` 换一家在该地区提供服务的模型。",
    },
    "fix_content": {
        "en": "Providers have different rules: `PARLEY_MODEL` sets another model.",
        "zh": "各服务商规则不同，可用 `PARLEY_MODEL` 换一个模型。",
    },
    "fix_unfinished": {
        "en": "If this continues, try another model: `PARLEY_MODEL` sets it.",
        "zh": "如果一直这样，可用 `PARLEY_MODEL` 换一个模型。",
    },
    "fix_protocol": {
        "en": "Check the address: `OPENAI_BASE_URL` leads to OpenAI's chat protocol, and often ends in `/v1`; "
        "`NAME_API_BASE` is that of a provider.",
        "zh": "请检查地址：`OPENAI_BASE_URL` 应指向 OpenAI 聊天协议，通常以 `/v1` 结尾；"
        "`NAME_API_BASE` 是服务商的地址。",
    },
    "fix_parameter": {
        "en": "`{slash}model` or `PARLEY_MODEL` sets another one.",
        "zh": "可用 `{slash}model` 或 `PARLEY_MODEL` 换一个模型。",
    },
    "fix_invalid": {
        "en": "If it happens with every message, try another model: `PARLEY_MODEL` sets it.",
        "zh": "如果每条消息都这样，可用 `PARLEY_MODEL` 换一个模型。",
    },
    "error_fatal": {
        "en": "Something went wrong on our side. Please try again. (run {run})",
        "zh": "我们这边出了点问题，请重试。（运行 {run}）",
    },
    "task_progress": {"en": "{tools}, now: {doing}", "zh": "{tools}，正在：{doing}"},
    "task_begun": {"en": "in the background, {id}", "zh": "后台任务 {id}"},
    "task_completed": {"en": "**Task {id} is done:** {what}", "zh": "**任务 {id} 已完成**：{what}"},
    "task_failed": {"en": "**Task {id} failed:** {what}", "zh": "**任务 {id} 失败**：{what}"},
    "task_cancelled": {"en": "**Task {id} was cancelled:** {what}", "zh": "**任务 {id} 已取消**：{what}"},
    "task_killed": {"en": "**Task {id} was ended:** {what}", "zh": "**任务 {id} 已被终止**：{what}"},
    "tasks_none": {"en": "Nothing runs in the background here.", "zh": "这里没有后台任务。"},
    "tasks_title": {"en": "Tasks in the background:", "zh": "后台任务："},
    "tasks_line": {
        "en": "- `{id}` {state}, {age}, {tokens} tokens: {what}",
        "zh": "- `{id}` {state}，{age}，{tokens} 词元：{what}",
    },
    "tasks_continued": {"en": "Task {id} continues.", "zh": "任务 {id} 继续进行。"},
    "tasks_cancel_button": {"en": "Cancel {id}", "zh": "取消 {id}"},
    "tasks_cancelling": {"en": "Cancelling task {id}.", "zh": "正在取消任务 {id}。"},
    "tasks_unknown": {"en": "There is no task {id} here.", "zh": "这里没有编号为 {id} 的任务。"},
    "tasks_over": {"en": "Task {id} is over already.", "zh": "任务 {id} 已经结束。"},
    "tasks_go_on": {
        "en": "Still in the background: {count}. See {slash}tasks.",
        "zh": "后台仍有 {count} 个任务，请看 {slash}tasks。",
    },
    "status_tasks": {"en": "**In the background:** {count}", "zh": "**后台任务**：{count} 个"},
    "task_state_pending": {"en": "waiting", "zh": "等待中"},
    "task_state_running": {"en": "running", "zh": "运行中"},
    "task_state_waiting": {"en": "waiting for approval", "zh": "等待批准"},
    "task_state_unwanted": {"en": "being cancelled", "zh": "正在取消"},
    "task_state_completed": {"en": "done", "zh": "已完成"},
    "task_state_failed": {"en": "failed", "zh": "失败"},
    "task_state_cancelled": {"en": "cancelled", "zh": "已取消"},
    "task_state_killed": {"en": "ended", "zh": "已终止"},
}
