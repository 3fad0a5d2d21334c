"""Notices: messages that are refused or were missed, answers that may not have arrived, failures of Parley."""

TEXTS = {
    "too_many_waiting": {
        "en": "You already have {most} messages waiting, so I will not answer this one. Please send it again later:",
        "zh": "您已有 {most} 条消息在等我处理，这一条我不会回答了，请稍后再发：",
    },
    "too_many_waiting_more": {
        "en": "You already have {most} messages waiting, so I will not answer these {count}. Please send them "
        "again later:",
        "zh": "您已有 {most} 条消息在等我处理，以下 {count} 条我不会回答了，请稍后再发：",
    },
    "too_many_commands": {
        "en": "I am still sending you the replies to {most} commands, so I left out {count} more. Please give "
        "them again later.",
        "zh": "您前面 {most} 条命令的回复还在发送，另有 {count} 条我没有执行，请稍后再发。",
    },
    "wait_a_moment": {
        "en": "You have just asked for a lot. Please try that again in {seconds} s.",
        "zh": "您刚才的请求太多了，请 {seconds} 秒后再试一次。",
    },
    "unconfirmed": {
        "en": "I'm not sure my last answer reached you.",
        "zh": "不确定您有没有收到我的上一条回答。",
    },
    "refused_answer": {
        "en": "My answer could not be posted where you asked ({why}). Here it is:",
        "zh": "我的回答无法发到您提问的聊天里（{why}），所以发到这里：",
    },
    "show_last": {"en": "Show last answer", "zh": "显示上一条回答"},
    "nothing_unconfirmed": {"en": "All my answers have arrived.", "zh": "我的回答都已送达。"},
    "revoked": {
        "en": "{people} may no longer speak with me, or have jobs there. Ended or paused: {things}.",
        "zh": "{people} 已不能再与我对话，或已无权在那里保留日程。已结束或暂停：{things}。",
    },
    "revoked_runs": {"en": "running answers: {count}", "zh": "正在进行的回答：{count}"},
    "revoked_messages": {"en": "waiting messages: {count}", "zh": "等待的消息：{count}"},
    "revoked_questions": {"en": "open questions: {count}", "zh": "待批准的请求：{count}"},
    "revoked_tasks": {"en": "background tasks: {count}", "zh": "后台任务：{count}"},
    "revoked_jobs": {"en": "scheduled jobs: {count}", "zh": "日程：{count}"},
    "gap_not_read": {
        "en": "I could not read the messages sent while I was offline ({reason}). Chats: {count} ({chats}). "
        "New messages there are answered; missed ones may need to be sent again.",
        "zh": "我离线期间的消息未能读取（{reason}）。涉及 {count} 个聊天（{chats}）。"
        "现在发来的消息会照常回答，错过的可能需要重新发送。",
    },
    "missed_one": {
        "en": "Missed, and now it is too late: {what}, due {when}.",
        "zh": "错过了，现在补做已经太晚：{what}，原定时间：{when}。",
    },
    "missed_many": {
        "en": "Missed {count} times, and now it is too late:",
        "zh": "共错过 {count} 次，现在补做已经太晚：",
    },
    "missed_line": {"en": "- {what}, due {when}", "zh": "- {what}，原定时间：{when}"},
    "missed_lines": {
        "en": "- {what}, {count} times, last due {when}",
        "zh": "- {what}，{count} 次，最后一次的原定时间：{when}",
    },
    "missed_next": {"en": "The next time is {when}.", "zh": "下一次是 {when}。"},
    "late_minutes": {
        "en": "{count} min late. It was due {when}.",
        "zh": "晚了 {count} 分钟。原定时间：{when}。",
    },
    "late_hours": {"en": "{count} h late. It was due {when}.", "zh": "晚了 {count} 小时。原定时间：{when}。"},
    "late_days": {"en": "{count} days late. It was due {when}.", "zh": "晚了 {count} 天。原定时间：{when}。"},
    "work_failed": {
        "en": "A component failed and was restarted: {name} ({error}). See the log for details.",
        "zh": "一个组件出错，已重新启动：{name}（{error}）。详情见日志。",
    },
    "owed_died": {"en": "Parley stopped each time", "zh": "每次都在此时中断运行"},
    "owed_given_up": {
        "en": "What should have followed an answer was given up after several attempts: {kind} in {chat} ({why})."
        " The log says more.",
        "zh": "回答之后应做的一件事多次尝试仍未完成，已放弃：{chat} 的 {kind}（{why}）。详情见日志。",
    },
    "backup_failed": {
        "en": "Tonight's backup failed: {why}. Run `parley doctor` for details.",
        "zh": "今晚的备份失败：{why}。运行 `parley doctor` 可了解详情。",
    },
    "rows_damaged": {
        "en": "{count} stored rows can no longer be read, as the disk has damaged them: {rows}. Conversations: {chats}."
        " I go on without them. `parley restore` lists the backups, which may still hold them; have the disk checked.",
        "zh": "有 {count} 行存储的数据因磁盘损坏而无法再读取：{rows}。涉及的对话：{chats}。我会跳过这些数据继续工作。"
        "`parley restore` 会列出可能仍保有它们的备份；请检查磁盘。",
    },
    "words_damaged": {
        "en": "A part of this conversation can no longer be read, as the disk has damaged it. I go on without it; "
        "{slash}new begins a new conversation.",
        "zh": "由于磁盘损坏，这段对话的一部分已无法读取。我会跳过这部分继续；发送 {slash}new 可开始新对话。",
    },
    "said_before_restore": {
        "en": "I was restored on {restored} from a backup of {backup}. Messages sent in between were not "
        "answered ({count}):\n{lines}",
        "zh": "我已于 {restored} 从 {backup} 的备份恢复。以下是这段时间里的消息（{count} 条），我没有回复：\n{lines}",
    },
}
