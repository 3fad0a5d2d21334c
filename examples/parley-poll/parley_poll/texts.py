"""Texts of polls for people, in each language of Parley."""

TEXTS = {
    "poll_needs_choices": {
        "en": "A poll has a question and 2 to {most} choices: {slash}poll Lunch? | Pizza | Soup",
        "zh": "投票需要一个问题和 2 到 {most} 个选项：{slash}poll 午饭？ | 披萨 | 汤",
    },
    "poll_gone": {"en": "This poll was erased.", "zh": "这个投票已被删除。"},
    "page_polls": {"en": "Polls", "zh": "投票"},
    "poll_chat": {"en": "Chat", "zh": "聊天"},
    "poll_question": {"en": "Question", "zh": "问题"},
    "poll_votes": {"en": "Votes", "zh": "票数"},
    "poll_none": {"en": "No polls yet.", "zh": "还没有投票。"},
}
