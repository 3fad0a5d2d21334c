"""Pictures that no model can see, told by their bytes."""

import re

_STARTS = {
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"II+\0": "TIFF",
    b"MM\0+": "TIFF",
    b"\0\0\0\x0cJXL \r\n\x87\n": "JPEG XL",
    b"\0\0\0\x0cjP  \r\n\x87\n": "JPEG 2000",
    b"8BPS\0\1": "Photoshop",
}
_BRANDS = {
    **dict.fromkeys((b"avif", b"avis"), "AVIF"),
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"), "HEIC"),
    **dict.fromkeys((b"mif1", b"msf1", b"mif2"), "HEIF"),
}
"""Formats by brand; the last are those of any picture in this container."""
_BITMAP_HEADERS = frozenset((12, 40, 52, 56, 64, 108, 124))
_HEAD = 4096
_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<\?xml[^>]*>|<!--.*?-->|<!DOCTYPE\s+svg[^>\[]*(?:\[[^\]]*\]\s*)?>)*+<(?:svg:)?svg[\s>]",
    re.DOTALL,
)


def unseen_format(content: bytes) -> str | None:
    """Return the name of a picture's format that no model can see; None for anything else."""
    if content[4:8] == b"ftyp":
        return _in_container(content)
    if content[:2] == b"BM" and int.from_bytes(content[14:18], "little") in _BITMAP_HEADERS:
        return "BMP"
    if _SVG.match(content[:_HEAD]):
        return "SVG"
    if content[:2] == b"\xff\n" and b"\0" in content[:_HEAD]:  # without a container; a text may begin like this
        return "JPEG XL"
    return next((name for start, name in _STARTS.items() if content.startswith(start)), None)


def _in_container(content: bytes) -> str | None:
    """Return the format by the brands of the first box: the main one, a version, and the compatible ones."""
    size = min(int.from_bytes(content[:4]), _HEAD)
    brands = [content[8:12], *(content[at : at + 4] for at in range(16, size, 4))]
    found = {_BRANDS[brand] for brand in brands if brand in _BRANDS}
    if not found or (brands[0] not in _BRANDS and not found & {"AVIF", "HEIC"}):
        return None
    return next(name for name in ("AVIF", "HEIC", "HEIF") if name in found)
