"""Texts of the admin page of models."""

TEXTS = {
    "page_models": {"en": "Models", "zh": "模型"},
    "page_models_price": {"en": "Price", "zh": "价格"},
    "page_models_window": {"en": "Window (tokens)", "zh": "上下文窗口（词元）"},
    "page_models_can": {"en": "Can", "zh": "能力"},
    "page_models_vision": {"en": "see pictures", "zh": "看图"},
    "page_models_thinks": {"en": "think", "zh": "思考"},
    "page_models_default": {"en": "the default", "zh": "默认模型"},
    "page_models_fallback": {"en": "asked when another one fails", "zh": "其他模型失败时使用"},
    "page_models_cheaper": {"en": "asked when little of a budget is left", "zh": "预算将尽时使用"},
    "page_models_rests": {
        "en": "has failed, and is asked again in {minutes} min",
        "zh": "最近调用失败，{minutes} 分钟后再试",
    },
    "page_models_unreachable": {"en": "cannot be used: {why}", "zh": "无法使用：{why}"},
    "page_models_test": {"en": "Test", "zh": "测试"},
    "page_models_where": {
        "en": "The default, the fallbacks and the other models are settings:",
        "zh": "默认模型、后备模型和其他模型在设置中指定：",
    },
    "page_models_chosen": {"en": "Chosen in chats", "zh": "聊天中的选择"},
    "page_models_choice": {"en": "Choice", "zh": "选择"},
    "page_models_none_chosen": {
        "en": "No chat has chosen a model: the default one answers everywhere.",
        "zh": "没有聊天选择过模型，全部使用默认模型。",
    },
    "page_models_choose": {"en": "Choose", "zh": "选择"},
    "page_models_model": {"en": "Model", "zh": "模型"},
    "page_models_thinking": {"en": "Thinking", "zh": "思考程度"},
    "page_models_everywhere": {"en": "Set for all chats", "zh": "对所有聊天设置"},
}
