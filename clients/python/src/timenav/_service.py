"""A service for tests, on a free local port, with its data in a temporary folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from types import TracebackType

from ._client import Client
from ._errors import TimenavError

_START_SECONDS_MAX = 30.0


class Service:
    """A service process."""

    def __init__(self, program: str | None = None) -> None:
        """Starts the service, and returns when it accepts requests."""
        found = program or os.environ.get("TIMENAV_BIN") or shutil.which("timenav")
        if not found:
            raise TimenavError("the program timenav was not found; install it, or set TIMENAV_BIN")
        self.program = found
        self.folder = Path(tempfile.mkdtemp(prefix="timenav-"))
        self.base_url = ""
        self._port = 0
        self._process: subprocess.Popen[str] | None = None
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    @property
    def api_key(self) -> str:
        """The API key of the service's operator."""
        return (self.folder / "data/admin.key").read_text(encoding="ascii").strip()

    def start(self) -> None:
        """Starts the service. A restart uses the same port and data."""
        command = [self.program, "serve", "--listen", f"127.0.0.1:{self._port}", "--data", str(self.folder / "data")]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TIMENAV_")}
        with (self.folder / "log").open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(  # noqa: S603 - the caller chose the program
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
            )
        output = self._process.stdout
        if output is None:
            raise TimenavError("the output of the service cannot be read")
        # The timer kills the program, which ends the wait for its first line of output.
        watch = threading.Timer(_START_SECONDS_MAX, self._process.kill)
        watch.start()
        line = output.readline()
        watch.cancel()
        if "listening on " not in line:
            log_text = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
            raise TimenavError(f"{self.program} did not start: {log_text[-2_000:].strip()}")
        self.base_url = line.split("listening on ", 1)[1].strip()
        self._port = int(self.base_url.rsplit(":", 1)[1])

    def kill(self) -> None:
        """Kills the service to simulate a crash. Its data remains."""
        self._end(force=True)

    def terminate(self) -> None:
        """Stops the service gracefully, as an operator would. Its data remains."""
        self._end(force=False)

    def stop(self) -> None:
        """Kills the service and removes its data."""
        self._end(force=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def client(self, timeline_id: str | None = None) -> Client:
        """Returns a client with the operator's API key."""
        return Client(base_url=self.base_url, api_key=self.api_key, timeline_id=timeline_id)

    def _end(self, *, force: bool) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill() if force else process.terminate()
        process.wait(timeout=_START_SECONDS_MAX)
        if process.stdout is not None:
            process.stdout.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
