"""Read files of text, which are UTF-8; of another, say in which encoding it seems to be."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

from schemas.errors import SourceError

PACKED = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b")
"""How files of Excel, old and new, and archives begin."""

ASCII = bytes(range(128))
CHINESE = re.compile(rb"[\xa1-\xf7][\xa1-\xfe]")
"""A character of GB 2312, which GBK and GB 18030 write alike."""


def read_bytes(path: Path) -> bytes:
    """Return the content of a file; SourceError: it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceError(
            "the file cannot be read", where=str(path), got=str(error), next_step="check path and permissions"
        ) from error


def read_text(path: Path) -> str:
    """Return the text of a file; SourceError: it cannot be read, or is not UTF-8."""
    content = read_bytes(path)
    try:
        # UTF-16 of plain letters is UTF-8, too: every second byte is zero.
        if content.count(0) * 3 > len(content):
            raise UnicodeDecodeError("utf-8", content, content.index(0), content.index(0) + 1, "zeros")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(
            "the file is not UTF-8",
            where=f"{path}, line {content.count(10, 0, error.start) + 1}",
            expected="UTF-8 text",
            got=f"byte 0x{content[error.start]:02x}",
            next_step=_advise(content),
        ) from error


def _advise(content: bytes) -> str:
    """Return what to do about a text that is not UTF-8, with its likeliest encoding as iconv names it."""
    zeros, is_packed = content.count(0), content.startswith(PACKED)
    others = content.translate(None, ASCII)
    if content[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
        encoding = "UTF-16"
    elif zeros * 12 > len(content) and not is_packed:
        encoding = "UTF-16LE" if content[1::2].count(0) > content[::2].count(0) else "UTF-16BE"
    elif zeros or is_packed:
        return "it looks like a workbook, an archive or a picture: unpack it, or save it in Excel as CSV UTF-8"
    elif len(content.decode(errors="ignore").encode().translate(None, ASCII)) * 4 > len(others) * 3:
        return "nearly all of it is UTF-8: correct this line; the file may be cut off or joined"
    else:
        encoding = "GB18030" if len(CHINESE.findall(content)) * 4 > len(others) else "WINDOWS-1252"
    convert = f"iconv -f {encoding} -t UTF-8 FILE > NEW_FILE"
    return f"it may be {encoding}: {convert}, and check that the result reads well; or save it in Excel as CSV UTF-8"
