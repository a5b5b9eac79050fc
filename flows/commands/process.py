"""Start and end the process of a command: import without garbage collection, end without taking Python down."""

import atexit
import gc
import os
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from errno import EMFILE, ENAMETOOLONG, ENOSPC
from io import StringIO
from typing import NoReturn

from schemas.errors import EndpointError, UsageError, summarize

LONGEST_PATH = 200
THRESHOLDS = (50_000, 20, 20)
UNUSED = frozenset({"sqlalchemy"})
"""Packages that others import where they find them, for what we do not use: dataframely for databases, which takes 0.1 s."""


@contextmanager
def imports() -> Iterator[None]:
    """Collect no garbage while the block imports, and hide UNUSED; what it imported is never looked at again.

    Modules make hundreds of thousands of objects that stay: looking through them over and over takes 0.5 to 1.3 s of a command.
    Does nothing where Prefect is imported already, as in a test.
    """
    if "prefect" in sys.modules or not gc.isenabled():
        yield
        return
    gc.disable()
    hidden = UNUSED - sys.modules.keys()
    vars(sys)["modules"].update(dict.fromkeys(hidden))  # None: it cannot be imported
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
        gc.freeze()
        # Thousands of calls make and drop objects by the million, and next to none of them in circles.
        gc.set_threshold(*THRESHOLDS)
        gc.enable()


def require_certificates() -> None:
    """Refuse certificates that cannot be read, which libraries tell by a traceback while they are imported.

    Raises:
        EndpointError: naming the variable.
    """
    if not (named := os.environ.get("SSL_CERT_FILE")):
        return
    try:
        ssl.create_default_context(cafile=named)
    except OSError as error:
        raise EndpointError(
            "the certificates of trusted servers cannot be read",
            where=f"SSL_CERT_FILE={named}",
            expected="a file of certificates in PEM",
            got=error.strerror or str(error),
            next_step="correct the variable, or unset it",
        ) from error


def require_prefect_settings() -> None:
    """Refuse damaged settings of Prefect, which it reads and tells by a traceback while it is imported.

    Raises:
        UsageError: a file or a variable of its settings is damaged, or names a profile that does not exist.
    """
    told = StringIO()  # what Prefect itself prints before it raises
    try:
        with redirect_stderr(told):
            from httpx import URL  # noqa: PLC0415  with Prefect, which takes its time
            from prefect.settings import get_current_settings, load_profiles  # noqa: PLC0415

            settings, profiles = get_current_settings(), load_profiles()
            URL(settings.api.url or "")
        profile = os.environ.get("PREFECT_PROFILE") or profiles.active_name
        names = ", ".join(sorted(profiles.names))
        got = "" if profile in {None, *profiles.names} else f"the profile {profile}, none of {names}"
        if settings.home.exists() and not settings.home.is_dir():
            got = f"PREFECT_HOME, which is no folder: {settings.home}"
    except Exception as error:  # noqa: BLE001  whatever its parsers raise
        got = summarize(error) or type(error).__name__
    if got:
        raise UsageError(
            "the settings of Prefect cannot be used",
            where=os.environ.get("PREFECT_PROFILES_PATH")
            or f"{os.environ.get('PREFECT_HOME') or '~/.prefect'}/profiles.toml, "
            "prefect.toml, pyproject.toml and .env of this folder, variables PREFECT_...",
            expected="settings that Prefect can read, and a profile that exists",
            got=got,
            next_step="correct the file or the variable, or move the file away and unset the variable",
        )
    sys.stderr.write(told.getvalue())


STEPS = {
    EMFILE: "raise the limit of open files, as with ulimit -n 4096, and run the same command again",
    ENAMETOOLONG: "choose a shorter name",
    ENOSPC: "free space and run the same command again",
}


def refused_by_system(error: OSError) -> UsageError:
    """Return what the operating system refused as one message; what cannot be foreseen of a file ends here."""
    return UsageError(
        "the operating system refuses",
        where=str(error.filename)[:LONGEST_PATH] if error.filename else None,
        got=error.strerror or str(error) or type(error).__name__,
        next_step=STEPS.get(error.errno or 0, "check that path and permissions are right"),
    )


def leave(status: int) -> NoReturn:
    """End the process as Python does, up to the point where it takes every module and object apart: that takes 1.8 s.

    Threads are joined, exit functions called and output written, in Python's own order.

    Raises:
        SystemExit: output cannot be written, which is then said and turned into a status by Python itself.
    """
    # No public function joins threads and calls the exit functions of concurrent.futures and of Prefect's workers.
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BrokenPipeError:
        pass  # whoever read the output, such as `head`, has enough
    except (OSError, ValueError):
        raise SystemExit(status) from None
    os._exit(status)
