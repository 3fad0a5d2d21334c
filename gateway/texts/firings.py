"""Texts about firings: lateness, failure, recovery and rehearsals."""

TEXTS = {
    "late_minutes": {
        "en": "{count} min late, because I was not running. It was due {when}.",
        "zh": "因为我没有在运行，晚了 {count} 分钟。原定时间：{when}。",
    },
    "late_hours": {
        "en": "{count} h late, because I was not running. It was due {when}.",
        "zh": "因为我没有在运行，晚了 {count} 小时。原定时间：{when}。",
    },
    "late_days": {
        "en": "{count} days late, because I was not running. It was due {when}.",
        "zh": "因为我没有在运行，晚了 {count} 天。原定时间：{when}。",
    },
    "firing_failed": {
        "en": "⚠️ I could not do this: {what}\n{why}",
        "zh": "⚠️ 这件事没能完成：{what}\n{why}",
    },
    "firing_failed_again": {
        "en": "⚠️ I could not do this {count} times in a row: {what}\n{why}",
        "zh": "⚠️ 这件事已连续 {count} 次没能完成：{what}\n{why}",
    },
    "firing_works_again": {"en": "✅ This works again.", "zh": "✅ 现在又正常了。"},
    "firing_nothing": {"en": "There is nothing to report: {what}", "zh": "没有需要报告的内容：{what}"},
    "firing_overlapped": {
        "en": "This is being worked on already: {what}",
        "zh": "这件事已在进行中：{what}",
    },
    "firing_look": {"en": "a look at what may need you", "zh": "查看有没有需要您处理的事"},
    "firing_rehearsal": {
        "en": "🧪 A rehearsal: only you see it, and its times stay as they are.",
        "zh": "🧪 这是试运行：只有您能看到，时间安排不变。",
    },
    "firing_cost": {"en": "It used {tokens} tokens, ${cost}.", "zh": "用了 {tokens} 个词元，${cost}。"},
    "firing_cost_tokens": {"en": "It used {tokens} tokens.", "zh": "用了 {tokens} 个词元。"},
    "firing_cost_nothing": {"en": "It costs nothing.", "zh": "没有费用。"},
    "cause_budget": {"en": "It would have cost more than one run may.", "zh": "费用超出了单次运行的上限。"},
    "cause_time": {"en": "It took too long.", "zh": "耗时太长。"},
    "cause_lives": {
        "en": "Parley was cut off three times at the same point of it.",
        "zh": "处理时 Parley 在同一处连续三次被中断。",
    },
    "again_button": {"en": "Try again", "zh": "重试"},
    "cause_silent": {"en": "The model gave no answer.", "zh": "模型没有给出回答。"},
    "cause_stopped": {"en": "Somebody stopped it.", "zh": "有人让它停止了。"},
    "cause_mistake": {"en": "Something went wrong on our side.", "zh": "我们这边出了点问题。"},
    "cause_skill": {
        "en": "The skill {skill} that it follows cannot be used any more. Put it back, or change the job.",
        "zh": "它所用的技能 {skill} 已无法使用，请恢复该技能或修改这项安排。",
    },
    "cause_permission": {
        "en": "It needed things that somebody has to approve, and nobody can be asked then.",
        "zh": "其中有些操作需要批准，而届时无法询问任何人。",
    },
}
