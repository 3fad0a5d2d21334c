"""Texts about missed firings."""

TEXTS = {
    "missed_one": {
        "en": "I was away when something planned here was due, and now it is too late for it.{next}",
        "zh": "这里有一件定时的事到点时我不在线，现在补做已经太晚了。{next}",
    },
    "missed_many": {
        "en": "I was away, and {count} times something planned here was due; now it is too late for that.{next}",
        "zh": "我不在线的时候，这里错过了 {count} 次定时的事，现在补做已经太晚了。{next}",
    },
    "missed_next": {"en": " The next time is {when}.", "zh": "下一次是 {when}。"},
}
