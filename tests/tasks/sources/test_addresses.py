import pytest

from schemas.dataset import PinnedFile
from schemas.errors import SourceMissingError
from tasks.sources.fetching import Addresses


def pinned(repository: str, revision: str = "0123456789abcdef", path: str = "data/a b#1.csv") -> PinnedFile:
    return PinnedFile(repository=repository, revision=revision, path=path, sha256="0" * 64)


@pytest.mark.parametrize(
    ("source", "url"),
    [
        (
            pinned("github.com/someone/something"),
            "https://raw.githubusercontent.com/someone/something/0123456789abcdef/data/a%20b%231.csv",
        ),
        (
            pinned("huggingface.co/someone/something"),
            "https://huggingface.co/datasets/someone/something/resolve/0123456789abcdef/data/a%20b%231.csv",
        ),
        (
            pinned("huggingface.co/someone/something", "refs/convert/parquet", "茶.csv"),
            "https://huggingface.co/datasets/someone/something/resolve/refs%2Fconvert%2Fparquet/%E8%8C%B6.csv",
        ),
    ],
)
def test_address_at_the_pinned_revision(source: PinnedFile, url: str) -> None:
    assert Addresses().of(source) == url


def test_address_of_what_git_lfs_keeps() -> None:
    expected = "https://media.githubusercontent.com/media/someone/something/0123456789abcdef/data/a%20b%231.csv"
    assert Addresses().of_lfs(pinned("github.com/someone/something")) == expected
    assert Addresses().of_lfs(pinned("huggingface.co/someone/something")) is None


def test_only_known_hosts_have_an_address() -> None:
    with pytest.raises(SourceMissingError, match=r"data/a b#1\.csv cannot be downloaded") as caught:
        Addresses().of(pinned("example.org/someone/something"))
    assert caught.value.expected == "a repository on github.com or a dataset on huggingface.co"
    assert "--mirror" in str(caught.value.next_step)
