"""The reasons why plugins are left out, in Chinese, and what to do about each. They are made in English."""

import re

from gateway.texts.say import Language

_AUTHORS = "correct the plugin, or ask its authors to"
_REASONS = (
    (
        r"found (.+), digest (\w+), instead of (.+), digest (\w+)",
        r"现为 \1，摘要 \2，而批准的是 \3，摘要 \4",
        "approve it with /plugins in a chat if you trust it, and start Parley again",
    ),
    (
        r"found (.+), digest (\w+)",
        r"现为 \1，摘要 \2",
        "approve it with /plugins in a chat if you trust it, and start Parley again",
    ),
    (
        r"the plugin (.+) needs (.+), which is switched off",
        r"插件 \1 需要已停用的 \2",
        r"take \2 out of PARLEY_PLUGINS_OFF",
    ),
    (
        r"the plugin (.+) needs (.+), which is left out",
        r"插件 \1 需要未加载的 \2",
        r"see why \2 is left out: `parley plugin check \2`",
    ),
    (
        r"the plugin (.+) needs (.+), which is not there",
        r"插件 \1 需要不存在的 \2",
        r"install \2, and name it in PARLEY_PLUGINS",
    ),
    (
        r"plugins need each other: (.+)",
        r"插件相互依赖：\1",
        "take one name out of the `needs` of one of them",
    ),
    (
        r"(.+) has a plugin of this name, but Parley's own is used",
        r"\1 有同名的插件，但使用的是 Parley 自带的",
        "give it another name",
    ),
    (
        r"PARLEY_PLUGINS names it, but no installed package has a plugin of this name",
        "PARLEY_PLUGINS 中有它，但没有安装含有它的软件包",
        "install its package into Parley's environment, or take it out of PARLEY_PLUGINS",
    ),
    (
        r"several packages have a plugin of this name: (.+); uninstall all but one",
        r"多个软件包有同名的插件：\1；请只保留一个",
        "uninstall all but one",
    ),
    (
        r"(its import|one of its methods) took more than (.+) seconds",
        r"超过 \2 秒没有加载完",
        "do long work in a duty, not when it is loaded",
    ),
    (
        r"its files have changed since this process imported them",
        "本进程导入之后，其文件有变动",
        "start Parley again",
    ),
    (
        r"(.+) is not a class derived from parley\.Plugin",
        r"\1 不是 parley.Plugin 的子类",
        "name a subclass of Plugin in the entry point of its package",
    ),
    (
        r"the name of its class is not (.+), as its package calls it",
        r"其类的 name 不是软件包所用的 \1",
        r'set `name = "\1"` in its class',
    ),
    (r"its (\w+) are not a frozenset of names", r"其 \1 不是由名称组成的 frozenset", r"make \1 a frozenset of texts"),
    (r"(.+) is `def`, and has to be `async def`", r"\1 是 `def`，须为 `async def`", "write `async def`"),
    (
        r"(.+) is `async def`, and has to be `def`",
        r"\1 是 `async def`，须为 `def`",
        "write `def`, as it is not awaited",
    ),
    (
        r"the tool (.+) has a parameter without a type: (.+)",
        r"工具 \1 有参数没有类型：\2",
        r"annotate it, such as `\2: str`",
    ),
    (
        r"the default (.+) of the parameter (.+) of the tool (.+) is not of its type",
        r"工具 \3 的参数 \2 的默认值 \1 不合其类型",
        "correct the default or the annotation",
    ),
    (
        r"the default of the setting (.+) of the plugin (.+) is none of its values",
        r"插件 \2 的设置 \1 的默认值不合其类型",
        "correct the default or the annotation",
    ),
    (
        r"migration (\d+) of the plugin (.+) is not the one that was applied to the store",
        r"插件 \2 的第 \1 步迁移与数据库中已执行的不同",
        "leave it as it was, and add a migration behind it",
    ),
    (r"its texts are not a mapping", "其 texts 不是映射", "make texts a mapping of keys to texts by language"),
    (r"two plugins have the name (.+)", r"两个插件都叫 \1", "rename one"),
    (
        r"the plugin (.+) has a tool (.+), which its tool_names do not name",
        r"插件 \1 的工具 \2 不在其 tool_names 中",
        r"add \2 to its tool_names",
    ),
    (r"two plugins have a provider of models (.+)", r"两个插件都有模型提供商 \1", "rename the provider"),
    (r"Parley itself has a provider of models (.+)", r"Parley 自己有模型提供商 \1", "rename the provider"),
    (
        r"the name of the provider (.+) is not made of a-z, 0-9, - and _",
        r"模型提供商的名称 \1 不是由 a-z、0-9、- 和 _ 组成的",
        "rename the provider; its name begins with a letter",
    ),
    (r"(\w+) of the provider (.+) should be a function", r"模型提供商 \2 的 \1 应为函数", r"make \1 a function"),
    (
        r"what the provider (.+) says of itself is missing in (.+)",
        r"模型提供商 \1 的介绍缺少语言 \2",
        r"add \2 to its `about`",
    ),
    (
        r"the sample (.+) is not named as a file, such as (.+)",
        r"示例文件 \1 的名称不像 \2",
        "name it with letters, digits, dots and - between slashes",
    ),
    (r"two plugins have a tool (.+)", r"两个插件都有工具 \1", "rename the tool"),
    (r"Parley itself has a tool (.+)", r"Parley 自己有工具 \1", "rename the tool"),
    (r"(.+) should be of the type (\w+), not (\w+)", r"\1 的类型应为 \2，而不是 \3", r"make it a value of the type \2"),
    (
        r"the command (.+) is not 1 to 32 characters of a-z, 0-9 and _",
        r"命令 \1 不是由 1 到 32 个 a-z、0-9 和 _ 组成的",
        "rename the command, such as shopping_list",
    ),
    (r"the description of (/.+) is missing in (.+)", r"\1 的说明缺少语言 \2", r"add the description in \2"),
    (r"the screen (.+) is a class, not an instance of one", r"页面 \1 是类，而不是其实例", "return an instance of it"),
    (
        r"the name of the screen (.+) is not made of a-z, 0-9, - and _",
        r"页面名称 \1 不是由 a-z、0-9、- 和 _ 组成的",
        "rename the screen; its name begins with a letter",
    ),
    (r"the screen (.+) has no title, the text (.+)", r"页面 \1 没有标题，即文字 \2", r"add the text \2"),
    (r"two commands have the name (/.+)", r"两个命令都叫 \1", "rename the command"),
    (
        r"the plugin (.+) has a route (.+), which is no path such as (.+)",
        r"插件 \1 的 \2 不是像 \3 这样的路径",
        "use lower-case letters, digits, - and _ between slashes",
    ),
    (r"two plugins have a route (.+)", r"两个插件都有路径 \1", "rename the route"),
    (
        r"the plugin (.+) has a route (.+), which its paths do not name",
        r"插件 \1 的 \2 不在其 paths 中",
        r"add \2 to its paths",
    ),
    (
        r"the settings of the plugin (.+) are not a class derived from PluginSettings",
        r"插件 \1 的 settings 不是 PluginSettings 的子类",
        "derive the class of its settings from PluginSettings",
    ),
    (
        r"the plugin (.+) has a setting (.+), which has to be in lower case",
        r"插件 \1 的设置 \2 须为小写",
        r"write \2 in lower case",
    ),
    (
        r"the setting (.+) of the plugin (.+) has no About in its annotation",
        r"插件 \2 的设置 \1 的注解中没有 About",
        r"add an About to the annotation of \1",
    ),
    (r"a setting of the plugin (.+) has no default", r"插件 \1 有设置没有默认值", "give each setting a default"),
    (
        r"the plugin (.+) has a button about runs that is none",
        r"插件 \1 的 run_buttons 中有不是 RunButton 的内容",
        "list objects of RunButton in its run_buttons",
    ),
    (
        r"the plugin (.+) has not two buttons that rate an answer",
        r"插件 \1 用于评价回答的按钮不是两个",
        "list two with the place answer in its run_buttons: the first praises, the second blames",
    ),
    (
        r"the screen (.+) has no such name as dice, or no text (.+)",
        r"页面 \1 的名称不像 dice，或缺少文字 \2",
        r"name the screen with lower-case letters, digits, - and _, and add \2 to its texts",
    ),
    (r"two plugins have a screen (.+)", r"两个插件都有页面 \1", "rename the screen"),
    (
        r"the topic (.+) makes (.+), which has other characters than a-z, 0-9 and _",
        r"主题 \1 得到 \2，其中有 a-z、0-9 和 _ 以外的字符",
        "rename the topic",
    ),
    (r"two texts have the key (.+)", r"两段文字的键都是 \1", "begin the keys of its texts with its name"),
    (r"the text (.+) is missing in (.+)", r"文字 \1 缺少语言 \2", r"add the text in \2"),
    (
        r"the places of the finding (.+) do not fit together",
        r"检查结果 \1 的占位符不一致",
        "give each place in English a name of its own, such as {name}, and other languages no other ones",
    ),
    (
        r"(?P<cause>The tables of the plugin (.+) have schema (\d+), but this version of it knows (\d+))\. .+",
        r"插件 \2 的数据表是架构 \3，而这个版本只认识 \4",
        "install the newer version of it again, or bring back a backup from before it with `parley restore FILE`",
    ),
    (
        r"(?P<cause>The plugin (.+) cannot make its tables: (.+) \(migration (\d+)\))\. .+",
        r"插件 \2 无法建立其数据表：\3（第 \4 步）",
        _AUTHORS,
    ),
)


def reason_in(reason: str, language: Language) -> str:
    """Return why a plugin is left out in a language. What its own code raised stays as it is."""
    if language == "en":
        return reason
    found = ((re.fullmatch(english, reason), chinese) for english, chinese, _ in _REASONS)
    return next((matched.expand(chinese) for matched, chinese in found if matched), reason)


def cause(reason: str) -> str:
    """Return a reason without the advice with which some end."""
    found = (re.fullmatch(english, reason) for english, _, _ in _REASONS)
    return next((matched["cause"] for matched in found if matched and "cause" in matched.re.groupindex), reason)


def remedy(reason: str) -> str:
    """Return what to do about it."""
    found = ((re.fullmatch(english, reason), fix) for english, _, fix in _REASONS)
    return next((matched.expand(fix) for matched, fix in found if matched), _AUTHORS)
