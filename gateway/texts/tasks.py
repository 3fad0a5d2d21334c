"""Texts about background tasks."""

TEXTS = {
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
    "tasks_continued": {"en": "Task {id} goes on.", "zh": "任务 {id} 继续进行。"},
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
