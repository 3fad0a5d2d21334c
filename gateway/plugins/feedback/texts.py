"""Texts of what people said of answers."""

TEXTS = {
    "feedback_none": {
        "en": "Nobody has rated an answer in the last {days} days.",
        "zh": "最近 {days} 天没有人评价过回答。",
    },
    "feedback_sums": {
        "en": "**Answers in the last {days} days**: 👍 {good}, 👎 {bad}",
        "zh": "**最近 {days} 天的回答**：👍 {good}，👎 {bad}",
    },
    "feedback_bad_ones": {
        "en": "Newest 👎 (`{slash}why RUN` tells how an answer came about):",
        "zh": "最近的 👎（用 `{slash}why RUN` 查看回答的由来）：",
    },
}
