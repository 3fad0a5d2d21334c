"""Texts about plugins."""

TEXTS = {
    "plugin_left_out": {
        "en": "The plugin {name} is left out: {reason}. Everything else works without it.",
        "zh": "插件 {name} 未加载：{reason}。其他功能不受影响。",
    },
}
