"""Archives of skills, good and bad."""

import io
import stat
import tarfile
import zipfile
from collections.abc import Mapping

SKILL_MD = "---\nname: rates\ndescription: Looks up exchange rates.\nversion: 1.2\n---\n\nRATES\n"
FILES = {"rates/SKILL.md": SKILL_MD, "rates/scripts/rate.py": "print(1.08)\n"}


def zipped(
    files: Mapping[str, str | bytes] = FILES, *, link: str = "", compression: int = zipfile.ZIP_DEFLATED
) -> bytes:
    """Return a zip of the files; `link` is the path of a symbolic link in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
        if link:
            info = zipfile.ZipInfo(link)
            info.create_system = 3
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, "/etc/passwd")
    return out.getvalue()


def tarred(
    files: Mapping[str, str | bytes] = FILES, *, more: tuple[tarfile.TarInfo, ...] = (), mode: str = "w:gz"
) -> bytes:
    """Return a tar.gz of the files; `more` are entries without content."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(path)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for entry in more:
            archive.addfile(entry)
    return out.getvalue()


def entry(path: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.type, info.linkname = kind, target
    return info
