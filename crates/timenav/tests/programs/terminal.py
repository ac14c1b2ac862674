"""Runs a command on a terminal of its own, types into it, and prints what comes of it."""

import os
import pty
import re
import select
import sys
import time

TIME_MAX = 30.0


def main() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    seen = everything = ""

    def wait_for(pattern: str) -> None:
        nonlocal seen, everything
        end = time.monotonic() + TIME_MAX
        while not (found := re.search(pattern, seen)):
            ready, _, _ = select.select([terminal], [], [], end - time.monotonic() if end > time.monotonic() else 0)
            if not ready:
                sys.exit(f"no {pattern!r} in {seen!r}")
            try:
                read = os.read(terminal, 4096).decode()
            except OSError:
                sys.exit(f"it ended before {pattern!r}: {seen!r}")
            seen, everything = seen + read, everything + read
        seen = seen[found.end() :]

    def type_in(text: str) -> None:
        os.write(terminal, text.encode())

    wait_for(r"ready\$ ")
    type_in("sleep 1000\n")
    wait_for("sleep 1000\r\n")
    time.sleep(0.3)
    type_in("\x1a")
    wait_for(r"Stopped .*sleep 1000")
    wait_for(r"ready\$ ")
    type_in("jobs; date +%s\n")
    wait_for(r"\[1\]\+ +Stopped .*sleep 1000\r\n")
    wait_for(r"\d{10}\r\n")
    type_in("fg\n")
    wait_for("sleep 1000\r\n")
    time.sleep(0.3)
    type_in("\x03")
    wait_for(r"ready\$ ")
    type_in("echo of the sleep: $?\n")
    wait_for("of the sleep: 130\r\n")
    type_in("stty size; test -t 0 && echo a terminal\n")
    wait_for("a terminal\r\n")
    type_in("date +at:%s; exit 7\n")
    wait_for(r"at:%s; exit 7\r\n")
    wait_for(r"at:\d+")
    _, status = os.waitpid(pid, 0)
    print(everything, file=sys.stderr)
    print("exit code", os.waitstatus_to_exitcode(status))


main()
