"""Texts of the search."""

TEXTS = {
    "search_usage": {
        "en": "There is no word in this to look for.",
        "zh": "这里没有可以搜索的词。",
    },
    "search_found": {"en": "Messages with **{words}**, newest first:", "zh": "包含 **{words}** 的消息（最新的在前）："},
    "search_nothing": {
        "en": "No message has all of these words: {words}",
        "zh": "没有同时包含这些词的消息：{words}",
    },
    "search_no_more": {"en": "There are no older messages with these words.", "zh": "没有更早的符合条件的消息了。"},
    "search_incomplete": {
        "en": "Older messages are still being added to the search. Try again in a few minutes.",
        "zh": "较早的消息还在加入搜索，请几分钟后再试。",
    },
    "search_fewer_words": {
        "en": "There are older ones. Search with fewer words to page through them.",
        "zh": "还有更早的消息。请减少关键词，以便翻页查看。",
    },
    "search_row": {"en": "{when}, {who}: {text}", "zh": "{when}，{who}：{text}"},
    "search_link": {"en": "show", "zh": "查看"},
    "search_older": {"en": "Older", "zh": "更早的"},
    "search_you": {"en": "you", "zh": "您"},
}
