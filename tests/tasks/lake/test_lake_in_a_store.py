"""A lake in an object store: what a local one does, and what goes wrong in one message each."""

import os
import pickle
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.errors import LakeError, UsageError
from schemas.folders import Folder, parse_folder
from schemas.tables.scores import TaskScores
from tasks.lake import manifest as manifests
from tasks.lake import run_index
from tasks.lake.files import TAIL_BYTES
from tasks.lake.lake import Lake
from tasks.lake.local_state import state_folder
from tasks.lake.manifest import list_runs, read_manifest, read_manifests, write_manifest
from tasks.lake.objects import ObjectStore
from tasks.rows.index import FOLDER, RowIndex
from tests.object_store import BUCKET, SECRET, keys, name_store, object_store
from tests.tasks.lake.test_lake import (  # the tests among them are run here again, on the lake of this module
    CODE,
    make_frame,
    make_key,
    test_a_file_that_is_no_partition_is_named,  # noqa: F401
    test_changed_content_is_noticed,  # noqa: F401
    test_missing_file_is_error_and_not_empty_frame,  # noqa: F401
    test_newest_incomplete_partition_has_own_identity,  # noqa: F401
)
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.run_rows.small_run import make_run

ADDRESS = f"s3://{BUCKET}/nightly/lake"


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, object_store(patch):
        yield
    ObjectStore.clear_instance_cache()


@pytest.fixture
def root(server: None, request: pytest.FixtureRequest) -> Folder:  # noqa: ARG001
    return parse_folder(f"{ADDRESS}/{request.node.name}")


@pytest.fixture
def new_connections() -> Iterator[None]:
    yield
    ObjectStore.clear_instance_cache()


@pytest.fixture
def lake(root: Folder) -> Lake:
    return Lake(root, CODE)


def fresh(lake: Lake) -> Lake:
    """As another process would see it."""
    copy: Lake = pickle.loads(pickle.dumps(lake))  # noqa: S301  our own bytes
    return copy


def test_bytes_are_those_of_a_local_lake(lake: Lake, tmp_path: Path) -> None:
    local = Lake(tmp_path, CODE)
    there, here = (one.write(make_key(), make_frame(), TaskScores) for one in (lake, local))
    assert there == here
    assert lake.path(there).read_bytes() == local.path(here).read_bytes()
    assert lake.file_sha256(there) == local.file_sha256(here)
    assert lake.read_footer(there) == local.read_footer(here)
    assert str(lake.path(there)) == f"{lake.root}/task_scores/model=org%2Fmodel/{there.fingerprint}.parquet"


def test_nothing_else_is_left(lake: Lake) -> None:
    lake.require_writable()
    ref = lake.write(make_key(), make_frame(), TaskScores)
    prefix = str(lake.root).removeprefix(f"s3://{BUCKET}/")
    assert [key for key in keys() if key.startswith(f"{prefix}/")] == [f"{prefix}/{ref.path}"]


def test_a_footer_longer_than_the_tail_is_read(lake: Lake) -> None:
    key = make_key().model_copy(update={"settings": {"long": "x" * TAIL_BYTES}})
    ref = lake.write(key, make_frame(), TaskScores)
    assert fresh(lake).find(key) == ref
    assert fresh(lake).read_footer(ref).settings == key.settings


def test_of_two_machines_that_asked_same_first_counts(lake: Lake) -> None:
    first = lake.write(make_key(), make_frame(40.0), TaskScores)
    other = fresh(lake)
    assert other.write(make_key(), make_frame(60.0), TaskScores) == first
    assert other.read(first, TaskScores)["score_0_100"].to_list() == [40.0, 40.0]


def uses(lake: Lake) -> list[Any]:
    """Each way in which a lake is used."""
    ref = lake.write(make_key(), make_frame(), TaskScores)
    return [
        lake.require_writable,
        lambda: lake.find(make_key(sample=3)),
        lambda: lake.find_latest(make_key(sample=3)),
        lambda: lake.read(ref, TaskScores),
        lambda: lake.file_sha256(ref),
        lambda: lake.write(make_key(sample=3), make_frame(), TaskScores),
        lambda: list_runs(lake.root),
        lambda: read_manifest(lake.root, "none"),
    ]


def told(used: list[Any]) -> set[str]:
    """First lines of what each use says."""
    said = set()
    for use in used:
        with pytest.raises(LakeError) as caught:
            use()
        assert caught.value.where is not None
        assert caught.value.next_step is not None
        said.add(caught.value.what)
    return said


def test_a_wrong_bucket_is_told(lake: Lake) -> None:
    used = uses(lake)
    lake.root = parse_folder("s3://no-such-bucket/lake")
    lake._complete_refs.clear()
    assert told(used) == {"there is no such bucket"}


@pytest.mark.usefixtures("new_connections")
@pytest.mark.parametrize("profile", [None, "nobody"])
def test_lacking_credentials_are_told(lake: Lake, monkeypatch: pytest.MonkeyPatch, profile: str | None) -> None:
    used = uses(lake)
    if profile:
        monkeypatch.setenv("AWS_PROFILE", profile)
    else:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert told(moved(lake, used)) == {"there are no credentials for the object store"}


@pytest.mark.usefixtures("new_connections")
def test_a_store_that_does_not_answer_is_told(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    used = uses(lake)
    with socket.create_server(("127.0.0.1", 0)) as free:
        name_store(monkeypatch, f"http://127.0.0.1:{free.getsockname()[1]}")
    assert told(moved(lake, used)) == {"the object store cannot be reached"}


def moved(lake: Lake, used: list[Any]) -> list[Any]:
    """The same lake with a new connection, made from the environment as it is now."""
    ObjectStore.clear_instance_cache()
    lake.root = parse_folder(str(lake.root))
    lake._complete_refs.clear()
    return used


@pytest.mark.parametrize(
    "text",
    [
        f"s3://AKIA:{SECRET}@bucket/lake", "s3://bucket/lake?token=x", "s3://Bucket", "s3://", "s3:/bucket/lake", "s3://b/",
        "gs://bucket/lake", "file:///tmp/lake", "s3://bucket//lake", "",
    ],
)  # fmt: skip
def test_file_instead_of_folder_is_refused_once(text: str) -> None:
    with pytest.raises(UsageError, match="not a valid lake address") as caught:
        parse_folder(text)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("text", ["parquet", "/data/lake", "./s3", "a:b"])
def test_a_local_folder_stays_a_path(text: str) -> None:
    assert parse_folder(text) == Path(text)


@pytest.mark.parametrize("text", ["s3://bucket", "s3://bucket/", "s3://bucket/a/b c/", "s3://my.bucket-1/a"])
def test_an_address_stays_as_it_is(text: str) -> None:
    assert str(parse_folder(text)).rstrip("/") == text.rstrip("/")


@pytest.mark.usefixtures("new_connections")
def test_a_refusal_is_told(lake: Lake) -> None:
    used = uses(lake)
    post(f"{os.environ['AWS_ENDPOINT_URL']}/moto-api/reset-auth", b"0")  # from now on no key is known
    try:
        assert told(moved(lake, used)) == {"the object store denies access"}
    finally:
        post(f"{os.environ['AWS_ENDPOINT_URL']}/moto-api/reset-auth", b"inf")


def post(address: str, content: bytes) -> None:
    assert httpx.post(address, content=content).status_code == 200


def test_the_index_of_runs_is_kept_here(root: Folder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MOODFLOW_STATE", str(tmp_path))
    monkeypatch.setattr(run_index, "FEWEST", 2)
    for run in ("20260101-a", "20260102-b"):
        write_manifest(root, bare_manifest(run))
    first = list(read_manifests(root))
    stored = keys()
    assert (state_folder(root) / run_index.INDEX).is_file()
    assert not [key for key in stored if run_index.INDEX in key]
    read: list[str] = []
    usual = manifests.read_listed
    monkeypatch.setattr(manifests, "read_listed", lambda lake, run: read.append(run) or usual(lake, run))  # type: ignore[func-returns-value]
    assert list(read_manifests(root)) == first
    assert read == []
    # As long as before, and within the second that the store's times are told in.
    write_manifest(root, bare_manifest("20260102-b", benchmark="thin"))
    assert [manifest.benchmark for manifest in read_manifests(root)] == ["thin", "tiny"]
    assert read == ["20260102-b"]


def test_rows_of_a_run_in_a_store_are_indexed(root: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOODFLOW_STATE", str(tmp_path))
    run = make_run(root)
    for _ in range(2):  # made, and read from this machine
        assert RowIndex(run).counts["rows"].sum() == 9
    assert (state_folder(root) / FOLDER / "r").is_file()
