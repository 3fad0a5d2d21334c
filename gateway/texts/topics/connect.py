"""Texts of the guides that connect platforms and models."""

TEXTS = {
    "connect_begins": {"en": "One moment ...", "zh": "请稍候……"},
    "connect_yes_or_no": {"en": "yes or no ", "zh": "是或否（y/n） "},
    "connect_again": {"en": "Enter to go on, Ctrl-C to leave ", "zh": "按回车继续，按 Ctrl-C 退出 "},
    "connect_number": {"en": "number or name ", "zh": "编号或名称 "},
    "connect_asking": {"en": "Asking {platform} about it ...", "zh": "正在向 {platform} 核对……"},
    "connect_starting": {"en": "Connecting {platform} ...", "zh": "正在连接 {platform}……"},
    "connect_replace": {
        "en": "{platform} is set up already ({places}). Replace its tokens by new ones?",
        "zh": "{platform} 已经设置好了（{places}）。要换成新的令牌吗？",
    },
    "connect_unchanged": {"en": "Nothing was changed.", "zh": "没有更改任何内容。"},
    "connect_nothing": {"en": "Nothing was entered.", "zh": "没有输入任何内容。"},
    "connect_bad_form": {"en": "That {reason}.", "zh": "格式不对：{reason}。"},
    "connect_other_token": {
        "en": "That is another token, which has a field of its own: {where}.",
        "zh": "这是另一个令牌，请填在它自己的栏中：{where}。",
    },
    "connect_other_platform": {
        "en": "That looks like a token or key of {owner}, and here one of {platform} is needed.",
        "zh": "这看起来是 {owner} 的令牌或密钥，这里需要的是 {platform} 的。",
    },
    "connect_refused": {"en": "{what}; {fix}.", "zh": "令牌被拒绝：{what}；{fix}。"},
    "connect_fix": {
        "en": "This has to be put right first. Then check again.",
        "zh": "请先解决以下问题，然后再次检查。",
    },
    "connect_fix_or_skip": {
        "en": "Best put this right now, then check again. It can wait, too: the rest works without it, and "
        "`parley doctor` names it until it is there.",
        "zh": "最好现在就解决，然后再次检查。也可以以后再说：其余功能不受影响，"
        "`parley doctor` 会一直提示，直到解决为止。",
    },
    "connect_left": {
        "en": "Left for later: {what} → {fix}. `parley doctor` names it until it is there.",
        "zh": "留待以后解决：{what} → {fix}。`parley doctor` 会一直提示，直到解决为止。",
    },
    "connect_again_or_skip": {
        "en": "Enter to check again, skip to go on without, Ctrl-C to leave ",
        "zh": "按回车再次检查，输入 skip 跳过，按 Ctrl-C 退出 ",
    },
    "connect_in_environment": {
        "en": "`{name}` is set in the environment, which wins over the file. Unset it there, start Parley without it, "
        "then try again.",
        "zh": "环境变量中设置了 `{name}`，它优先于文件。请取消该变量，重新启动 Parley，然后再试。",
    },
    "connect_listening": {
        "en": "{hello} I am waiting for it, to learn who you are.",
        "zh": "{hello}我在等这条消息，以便认出您。",
    },
    "connect_is_it_you": {
        "en": "{name} wrote (`{id}`). Is that you? The owner decides about everything here.",
        "zh": "{name} 发来了消息（`{id}`）。是您吗？所有者可以决定这里的一切。",
    },
    "connect_written": {
        "en": "Written to `{file}`, which only you can read: {names}.",
        "zh": "已写入 `{file}`（只有您可以读取）：{names}。",
    },
    "connect_add_owner": {
        "en": "`{name}` is set in the environment, which wins over the file: add `{id}` to it there.",
        "zh": "环境变量中设置了 `{name}`，它优先于文件：请在那里加上 `{id}`。",
    },
    "connect_running": {
        "en": "{name} is connected on {platform}, and has said hello to you there.",
        "zh": "{name} 已在 {platform} 上线，并在那里向您问好。",
    },
    "connect_not_started": {
        "en": "It is written, but {platform} could not be connected: {reason}. Put that right, then try again.",
        "zh": "已经写入，但无法连接 {platform}：{reason}。请解决后再试。",
    },
    "connect_start": {
        "en": "No Parley runs here at the moment. Start it with `{command}`; then {name} answers you.",
        "zh": "目前没有正在运行的 Parley。请用 `{command}` 启动它，之后 {name} 就会回答您。",
    },
    "connect_no_hello": {
        "en": "The hello could not be sent ({reason}).",
        "zh": "问候消息未能发送（{reason}）。",
    },
    "connect_hello": {
        "en": "Hello {name}! You are my owner now. I answer as soon as Parley is started.",
        "zh": "您好，{name}！您现在是我的所有者。Parley 启动后我就会回答您。",
    },
    "connect_hello_running": {
        "en": "Hello {name}! You are my owner now. Write to me whenever you like; `{slash}help` shows what I can do.",
        "zh": "您好，{name}！您现在是我的所有者。随时可以给我发消息；发送 `{slash}help` 可查看我能做什么。",
    },
    "connect_no_choice": {
        "en": "`{value}` is none of the choices.",
        "zh": "没有 `{value}` 这个选项。",
    },
    "connect_in_toml": {
        "en": "{place} would win: take it out there, then try again.",
        "zh": "{place} 会优先生效：请从那里删除，然后再试。",
    },
    "connect_key_with_spaces": {
        "en": "A key has no spaces in it; copy it again.",
        "zh": "密钥中不含空格，请重新复制。",
    },
    "connect_model_looking": {
        "en": "Looking for models on this machine ...",
        "zh": "正在查找本机上的模型……",
    },
    "connect_model_where": {"en": "Where is the model?", "zh": "模型在哪里？"},
    "connect_model_no_local": {
        "en": "No model server (Ollama, LM Studio, llama.cpp, vLLM) answers on this machine.",
        "zh": "本机上没有模型服务器（Ollama、LM Studio、llama.cpp、vLLM）应答。",
    },
    "connect_model_local": {
        "en": "{model} of {server}, on this machine: free, and nothing leaves it",
        "zh": "本机 {server} 的 {model}：免费，数据不离开本机",
    },
    "connect_model_hosted": {"en": "needs a key; default model {model}", "zh": "需要密钥；默认模型 {model}"},
    "connect_model_has_key": {"en": " (a key is set)", "zh": "（已设置密钥）"},
    "connect_model_own": {
        "en": "another server that speaks the OpenAI protocol, by its address",
        "zh": "使用 OpenAI 协议的其他服务器，需填写地址",
    },
    "connect_model_key": {"en": "The key of {provider}", "zh": "{provider} 的密钥"},
    "connect_model_make_key": {"en": "Make a key there and copy it.", "zh": "请在那里创建一个密钥并复制。"},
    "connect_model_keep_key": {
        "en": "A key is set already; an empty answer keeps it.",
        "zh": "已经设置了密钥；留空则保留。",
    },
    "connect_model_name": {"en": "The model", "zh": "模型"},
    "connect_model_address": {
        "en": "The address of the server, such as `http://127.0.0.1:8000/v1`",
        "zh": "服务器地址，例如 `http://127.0.0.1:8000/v1`",
    },
    "connect_model_kept_key": {
        "en": "Its key; empty for the one that you entered",
        "zh": "它的密钥；留空则用刚才输入的",
    },
    "connect_model_no_answer": {
        "en": "Nothing answers at `{address}`. Is the server running? Look at the address, and at its port.",
        "zh": "`{address}` 没有应答。服务器在运行吗？请检查地址和端口。",
    },
    "connect_model_own_key": {"en": "Its key; empty if it needs none", "zh": "它的密钥；不需要则留空"},
    "connect_model_own_name": {
        "en": "The name of the model; empty for the first one that it offers",
        "zh": "模型名称；留空则用它提供的第一个",
    },
    "connect_model_trying": {"en": "Trying the model with one call ...", "zh": "正在试用模型……"},
    "connect_model_failed_auth": {
        "en": "The provider refuses the key ({reason}). Copy it again.",
        "zh": "服务商拒绝了密钥（{reason}）。请重新复制。",
    },
    "connect_model_failed_quota": {
        "en": "The account has no quota left ({reason}). Top it up, or give another key.",
        "zh": "账户额度已用完（{reason}）。请充值，或换一个密钥。",
    },
    "connect_model_failed_not_found": {
        "en": "There is no model `{model}` ({reason}). Check its name.",
        "zh": "没有模型 `{model}`（{reason}）。请检查名称。",
    },
    "connect_model_failed_protocol": {
        "en": "That address does not lead to OpenAI's chat protocol: {reason}. It often ends in `/v1`.",
        "zh": "该地址不是 OpenAI 聊天协议：{reason}。这种地址通常以 `/v1` 结尾。",
    },
    "connect_model_failed_network": {
        "en": "{model} could not be reached. Check the network, then try again.",
        "zh": "无法连接 {model}。请检查网络后再试。",
    },
    "connect_model_failed_other": {
        "en": "{model} did not answer ({reason}). Try again, or choose another one.",
        "zh": "{model} 没有回答（{reason}）。请重试，或换一个模型。",
    },
    "connect_model_answered": {
        "en": "{model} answered within {seconds} s for {price}: {answer}",
        "zh": "{model} 用 {seconds} 秒作出回答，费用 {price}：{answer}",
    },
    "connect_model_paste": {
        "en": "Or paste a provider's key: {begins}",
        "zh": "或者直接粘贴提供商的密钥：{begins}",
    },
    "connect_model_whose_key": {
        "en": "The beginning of that key does not say whose it is. Choose the provider first.",
        "zh": "从这个密钥的开头看不出属于哪家。请先选择提供商。",
    },
    "connect_model_use": {"en": "{answer}\n\nUse this model?", "zh": "{answer}\n\n使用这个模型吗？"},
    "connect_model_price_unknown": {"en": "an unknown price", "zh": "未知"},
    "connect_model_start": {
        "en": "No Parley runs here at the moment. Start it with `{command}`.",
        "zh": "目前没有正在运行的 Parley。请用 `{command}` 启动它。",
    },
    "connect_model_in_use": {
        "en": "The running Parley uses it from the next answer on.",
        "zh": "正在运行的 Parley 从下一个回答开始使用它。",
    },
    "connect_model_restart": {
        "en": "The running Parley uses it after a restart.",
        "zh": "正在运行的 Parley 重启后开始使用它。",
    },
}
