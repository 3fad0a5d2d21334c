"""Names of models as people read and write them, of models that their server knows by the path of a file."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from agent_core.models.llm import ModelInfo

_ENDING = re.compile(r"\.(?:gguf|ggml|bin|safetensors|mlx|onnx|pt|pth)$", re.IGNORECASE)
"""How the names of files with models end."""
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")
"""What the name of the first of several files has before its ending."""
_PATH = re.compile(r"[/~\\]|\.{1,2}[\\/]|[A-Za-z]:[\\/]|file:")
_SEPARATOR = re.compile(r"[\\/]+")


def shown_name(model: str) -> str:
    """Return a name as people read it: of a path only the name of the file or folder, without its ending."""
    return _names(model)[0]


def named(model: ModelInfo) -> ModelInfo:
    """Return the model with a name for people."""
    return named_apart([model])[0]


def named_apart(models: Iterable[ModelInfo]) -> list[ModelInfo]:
    """Return the models with names for people: a file's without folder and ending, or with as much of them as tells it
    from the others."""
    models = list(models)
    taken = Counter(name for each in models for name in _names(each.id))
    return [_renamed(each, next((name for name in _names(each.id) if taken[name] == 1), each.id)) for each in models]


def _renamed(model: ModelInfo, name: str) -> ModelInfo:
    return model if name == model.id else model.model_copy(update={"id": name, "sent_as": model.wire_name})


def _names(model: str) -> Sequence[str]:
    """Return the names that a model may have, from the shortest: that of a file alone, then with its folders."""
    parts = [part for part in _SEPARATOR.split(model) if part.strip()]
    if not parts or not (_PATH.match(model) or _ENDING.search(model)):
        return [model]
    *folders, file = parts
    stem = _SHARD.sub("", _ENDING.sub("", file)) or file
    ends = range(len(folders), -1, -1)
    return list(dict.fromkeys("/".join([*folders[first:], name]) for name in (stem, file) for first in ends))
