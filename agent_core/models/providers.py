"""The hosted providers of models: keys, default models, addresses."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from pydantic import SecretStr

OPENAI_KEY = "OPENAI_API_KEY"


class KeyCheck(Struct, frozen=True):
    """A free GET request that needs the key; `header` is its name and a format for the key."""

    url: str
    header: tuple[str, str] = ("Authorization", "Bearer {}")


class Provider(Struct, frozen=True):
    """A hosted provider. `keys` are environment variables, the first being the documented one; `model` is the
    default."""

    name: str
    keys: tuple[str, ...]
    model: str
    prefix: str = ""
    """litellm's name of the provider, if not `name`."""
    base_url: str | None = None
    """Overrides litellm's base URL."""
    own_client: bool = False
    """True if Parley's own client asks it: litellm loses or renames what its models need back."""
    keys_page: str = ""
    """The address at which people make a key."""
    key_begins: str = ""
    """The beginning of each of its keys, if they have one of their own."""
    check: KeyCheck | None = None
    """The request that tells if a key is valid; None where `base_url` has a list of models."""

    def litellm_id(self, model: str) -> str:
        return f"{self.prefix or self.name}/{model}"

    def key_in(self, environ: Mapping[str, str]) -> tuple[str, SecretStr] | None:
        """Return the first key that is set, as variable name and value."""
        return next(((key, SecretStr(value)) for key in self.keys if (value := environ.get(key, "").strip())), None)


def address_of(name: str, environ: Mapping[str, str]) -> str | None:
    """Return the address that the variables give for what stands before the / of a model's name, such as
    GROQ_API_BASE for groq."""
    return _variable(name, "API_BASE", environ)


def key_of(name: str, environ: Mapping[str, str]) -> SecretStr | None:
    """Return the key for the server at `address_of` the same name."""
    found = _variable(name, "API_KEY", environ)
    return SecretStr(found) if found else None


def _variable(name: str, ending: str, environ: Mapping[str, str]) -> str | None:
    brand = "".join(letter if letter.isalnum() else "_" for letter in name.upper())
    return environ.get(f"{brand}_{ending}", "").strip() or None


PROVIDERS: Sequence[Provider] = (
    Provider(
        "anthropic",
        ("ANTHROPIC_API_KEY",),
        "claude-sonnet-5",
        keys_page="https://console.anthropic.com/settings/keys",
        key_begins="sk-ant-",
        check=KeyCheck("https://api.anthropic.com/v1/models", ("x-api-key", "{}")),
    ),
    # litellm would use OPENAI_BASE_URL, which may be the user's own server.
    Provider(
        "openai",
        (OPENAI_KEY,),
        "gpt-5.4-mini",
        base_url="https://api.openai.com/v1",
        keys_page="https://platform.openai.com/api-keys",
        key_begins="sk-proj-",
    ),
    Provider(
        "gemini",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "gemini-flash-latest",
        keys_page="https://aistudio.google.com/apikey",
        key_begins="AIza",
        check=KeyCheck("https://generativelanguage.googleapis.com/v1beta/models", ("x-goog-api-key", "{}")),
    ),
    Provider(
        "openrouter",
        ("OPENROUTER_API_KEY",),
        "anthropic/claude-sonnet-5",
        base_url="https://openrouter.ai/api/v1",
        own_client=True,
        keys_page="https://openrouter.ai/settings/keys",
        key_begins="sk-or-",
        # Its list of models is public; this address checks the key.
        check=KeyCheck("https://openrouter.ai/api/v1/key"),
    ),
    Provider(
        "deepseek",
        ("DEEPSEEK_API_KEY",),
        "deepseek-v4-flash",
        keys_page="https://platform.deepseek.com/api_keys",
        check=KeyCheck("https://api.deepseek.com/models"),
    ),
    Provider(
        "groq",
        ("GROQ_API_KEY",),
        "openai/gpt-oss-120b",
        base_url="https://api.groq.com/openai/v1",
        own_client=True,
        keys_page="https://console.groq.com/keys",
        key_begins="gsk_",
        check=KeyCheck("https://api.groq.com/openai/v1/models"),
    ),
    Provider(
        "mistral",
        ("MISTRAL_API_KEY",),
        "mistral-medium-latest",
        keys_page="https://console.mistral.ai/api-keys",
        check=KeyCheck("https://api.mistral.ai/v1/models"),
    ),
    Provider(
        "xai",
        ("XAI_API_KEY",),
        "grok-4.3-latest",
        keys_page="https://console.x.ai",
        key_begins="xai-",
        check=KeyCheck("https://api.x.ai/v1/models"),
    ),
    Provider(
        "moonshot",
        ("MOONSHOT_API_KEY", "KIMI_API_KEY"),
        "kimi-k2.6",
        keys_page="https://platform.moonshot.ai/console/api-keys",
        check=KeyCheck("https://api.moonshot.ai/v1/models"),
    ),
    Provider(
        "zai",
        ("ZAI_API_KEY",),
        "glm-5",
        keys_page="https://z.ai/manage-apikey/apikey-list",
        check=KeyCheck("https://api.z.ai/api/paas/v4/models"),
    ),
    Provider(
        "zhipu",
        ("ZHIPUAI_API_KEY", "ZHIPU_API_KEY"),
        "glm-5",
        prefix="zai",
        base_url="https://open.bigmodel.cn/api/paas/v4",
        keys_page="https://open.bigmodel.cn/usercenter/apikeys",
    ),
    Provider(
        "dashscope",
        ("DASHSCOPE_API_KEY",),
        "qwen3.8-max",
        keys_page="https://bailian.console.aliyun.com/?tab=model#/api-key",
        check=KeyCheck("https://dashscope-intl.aliyuncs.com/compatible-mode/v1/models"),
    ),
)
"""Hosted providers, in the order in which their keys are looked for."""
