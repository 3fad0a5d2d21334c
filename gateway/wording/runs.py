"""How a run goes, and how it ends."""

TEXTS = {
    "empty_answer": {
        "en": "The model gave no answer. Please try again or ask differently.",
        "zh": "模型没有给出回答，请重试或换一种问法。",
    },
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
