"""Texts about the model's own questions to people."""

TEXTS = {
    "waiting_answer": {"en": "Waiting for your answer", "zh": "等待您的回答"},
    "asked_in_private": {
        "en": "Just write your answer, or press a choice if there is one. I wait {minutes} minutes.",
        "zh": "直接回复即可；如有选项也可点选。我会等待 {minutes} 分钟。",
    },
    "asked_in_group": {
        "en": "Mention me with your answer, reply to this message, or press a choice if there is one. "
        "I wait {minutes} minutes.",
        "zh": "请提及我并作答、回复此消息，或在有选项时点选。我会等待 {minutes} 分钟。",
    },
    "asked_own_words": {"en": "In my own words …", "zh": "用自己的话回答…"},
    "asked_answered": {"en": "✓ {name}: **{answer}**", "zh": "✓ {name}：**{answer}**"},
    "asked_expired": {
        "en": "_No answer came in time, so I went on without._",
        "zh": "_没有及时得到回答，我先继续了。_",
    },
    "asked_withdrawn": {"en": "_No longer needed._", "zh": "_已不再需要。_"},
    "asked_unknown": {
        "en": "There is no open question {id} here. Answer by pressing a button, or just write.",
        "zh": "这里没有待回答的问题 {id}。请点选按钮，或直接回复。",
    },
    "asked_not_yours": {
        "en": "Only the person I asked, or an owner, can answer this.",
        "zh": "只有被提问的人或所有者可以回答。",
    },
    "asked_too_late": {
        "en": "That question has expired. Write to me again, and I will take it up.",
        "zh": "这个问题已过期。请再次给我发消息，我会接着处理。",
    },
    "asked_was_answered": {"en": "That question was answered already.", "zh": "这个问题已经回答过了。"},
    "asked_was_withdrawn": {"en": "I no longer need an answer to that.", "zh": "这个问题已不再需要回答。"},
}
