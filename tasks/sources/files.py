"""Names, hashes and text of source files, and the errors about one that is not here, not the pinned one, or not UTF-8."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import file_digest, sha256
from pathlib import Path

from schemas.dataset import BundledFile, LocalFile, OwnCopy, PinnedFile, SourceFile
from schemas.errors import ChecksumError, SourceError, SourceMissingError

FETCH_AGAIN = "remove the file and fetch it again at the pinned revision, or correct the hash if the change is meant"

CODEBOOK_FILE = "annotation_codebook.json"
"""What the records of several folders share: it stands beside the folder of these folders."""


def record_files(folder: Path) -> list[Path]:
    """Return the files `*.json` of a folder of records, by name, and the codebook of its repository if there is one."""
    shared = folder.resolve().parent.parent / CODEBOOK_FILE
    return [*sorted(folder.glob("*.json")), *([shared] if shared.is_file() else [])]


def hash_file(path: Path, kind: str = "sha256") -> str:
    """Return the hexadecimal hash of a file, or of the names and hashes of a folder's records; SourceError: it cannot be read."""
    if path.is_dir():
        return hash_names(*(part for file in record_files(path) for part in (file.name, hash_file(file, kind))))
    with _readable(path), path.open("rb") as stream:
        return file_digest(stream, kind).hexdigest()


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SourceError(
            "the file cannot be read", where=str(path), got=str(error), next_step="check the path and permissions"
        ) from error


def hash_names(*names: str) -> str:
    """Return the hexadecimal sha256 of several names: other names, or the same ones cut elsewhere, give another hash."""
    return sha256("\0".join(names).encode()).hexdigest()


def pinned_hashes(source: PinnedFile) -> dict[str, str | None]:
    """Return what pins a file's content: its sha256, else its authors' md5, if it has either.

    An md5 tells other versions and damage apart. It is no proof against a file made to have it.
    """
    return {"sha256": source.sha256} if source.sha256 else {"md5": source.md5}


def verify(path: Path, hashes: Mapping[str, str | None], where: str | None = None, next_step: str = FETCH_AGAIN) -> None:
    """Check the file against its hashes, by their kind, as far as it has any.

    ChecksumError: the file has another one; it names `where`, by default the path, as the file's place.
    """
    for kind, expected in hashes.items():
        if expected is not None and (got := hash_file(path, kind)) != expected:
            raise not_the_pinned(where or str(path), f"{kind} {expected}", f"{kind} {got}", next_step)


def not_the_pinned(where: str, expected: str, got: str, next_step: str) -> ChecksumError:
    """Return the error for other content than the pinned."""
    return ChecksumError(f"{where} is not the pinned file", where=where, expected=expected, got=got, next_step=next_step)


def name_source(source: SourceFile) -> str:
    """Return the file's name as tables record it: a path inside its repository, never a path of this machine."""
    match source:
        case PinnedFile():
            return source.path if source.member is None else f"{source.path}/{source.member}"
        case BundledFile():
            return source.name
        case OwnCopy():
            return name_source(source.of)
        case LocalFile():
            return source.path.name


def missing_source(source: SourceFile, got: str = "no such file") -> SourceMissingError:
    """Return the error for a file that cannot be had; `got` says what was there instead of it."""
    match source:
        case PinnedFile():
            name, where = source.path, f"{source.repository} at {source.revision}"
            next_step = f"put it in a folder as {source.repository}/{source.path} and pass that folder with --mirror, "
            next_step += "or give your own with --set folders.DATASET=DIR"
        case BundledFile():
            name, where, next_step = source.name, "data/bundled", "install the package again: this file comes with it"
        case LocalFile():
            name, where, next_step = source.path.name, str(source.path), "correct the path in the blueprint"
    return SourceMissingError(f"{name} was not found", where=where, expected="the file", got=got, next_step=next_step)


def pointer_in_place(source: PinnedFile, where: str) -> SourceMissingError:
    """Return the error for a Git LFS pointer where the file should be."""
    return SourceMissingError(
        f"{source.path} is a Git LFS pointer, not the file",
        where=where,
        expected="the file's own content",
        got="the pointer file of a clone made without Git LFS",
        next_step=f"run git lfs pull in that clone, or copy the real file to {source.repository}/{source.path}",
    )


PACKED = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b")
"""How files of Excel, old and new, and archives begin."""

ASCII = bytes(range(128))
CHINESE = re.compile(rb"[\xa1-\xf7][\xa1-\xfe]")
"""A character of GB 2312, which GBK and GB 18030 write alike."""


def read_bytes(path: Path) -> bytes:
    """Return the content of a file; SourceError: it cannot be read."""
    with _readable(path):
        return path.read_bytes()


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
