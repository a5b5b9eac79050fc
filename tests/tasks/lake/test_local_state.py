"""A lake on a file system that other machines share is told."""

from pathlib import Path

import pytest

from tasks.lake.local_state import network_disk

MOUNTS = """\
overlay / overlay rw,relatime 0 0
proc /proc proc rw 0 0
server:/export /mnt/team nfs4 rw,vers=4.2 0 0
/dev/sdb1 /mnt/team/local ext4 rw 0 0
//office/share /mnt/our\\040share cifs rw 0 0
me@there: /home/me/far fuse.sshfs rw 0 0
fuse-overlayfs /home/me/near fuse.fuse-overlayfs rw 0 0
/dev/sdc1 /mnt/twice ext4 rw 0 0
server:/other /mnt/twice nfs rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/mnt/team", "nfs4"),
        ("/mnt/team/lakes/a", "nfs4"),
        ("/mnt/team/local/a", None),
        ("/mnt/teamwork", None),
        ("/mnt/our share/a", "cifs"),
        ("/home/me/far/a", "fuse.sshfs"),
        ("/home/me/near/a", None),
        ("/mnt/twice/a", "nfs"),
        ("/anywhere", None),
    ],
)
def test_a_network_file_system_is_named(tmp_path: Path, folder: str, kind: str | None) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    assert network_disk(Path(folder), mounts) == kind


def test_a_system_without_mounts_tells_nothing(tmp_path: Path) -> None:
    assert network_disk(tmp_path, tmp_path / "nowhere") is None
