"""Texts of polls for people, in each language of Parley."""

TEXTS = {
    "poll_asked": {"en": "**{question}**", "zh": "**{question}**"},
    "poll_line": {"en": "{answer}: {votes}", "zh": "{answer}：{votes}"},
    "poll_needs_answers": {
        "en": "A poll has a question and 2 to {most} answers: {slash}poll Lunch? | Pizza | Soup",
        "zh": "投票需要一个问题和 2 到 {most} 个选项：{slash}poll 午饭？ | 披萨 | 汤",
    },
    "poll_gone": {"en": "There is no such poll in this chat.", "zh": "此聊天中没有这个投票。"},
}
