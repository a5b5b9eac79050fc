"""The command under limits that the operating system keeps: `python -m tests.crashes.limited LIMIT... -- ARGUMENTS`.

* `largest_file=BYTES`: writing beyond that fails in every file, as it does on a full disk.
* `permissions`: file permissions hold for root too.
"""

import ctypes
import os
import resource
import sys

PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE = 1


def obey_permissions(arguments: list[str]) -> None:
    """Start again without root's right to write where permissions forbid it; for anybody else they hold anyway."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "root cannot give up CAP_DAC_OVERRIDE here")
    os.execv(sys.executable, [sys.executable, "-m", "tests.crashes.limited", *arguments])  # noqa: S606  of this very program


def main() -> None:
    split = sys.argv.index("--")
    limits, arguments = sys.argv[1:split], sys.argv[split + 1 :]
    for limit in limits:
        name, _, value = limit.partition("=")
        if name == "largest_file":
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(value), int(value)))
        else:
            obey_permissions([other for other in limits if other != limit] + ["--", *arguments])
    from flows.cli import main as moodflow  # noqa: PLC0415  as late as the installed command imports it

    sys.argv = ["moodflow", *arguments]
    moodflow()


if __name__ == "__main__":
    main()
