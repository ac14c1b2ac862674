"""Runs a command on a terminal of its own, types into it, and prints what comes of it."""

import os
import pty
import re
import select
import signal
import sys
import time

TIME_MAX = 60.0
# It says when it runs, and when it goes on. What is typed is shown too, and must not look like that. A shell would not
# do: one that has just forked cannot be stopped.
JOB = """perl -e '$| = 1; $SIG{CONT} = sub { print "goes o"."n\\n" }; print "be"."gun\\n"; sleep 1 while 1'\n"""


def main() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        # Whoever runs the tests in the background has it ignored, and so would every program here.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
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
    type_in(JOB)
    wait_for("begun\r\n")
    type_in("\x1a")
    wait_for(r"Stopped .*perl")
    wait_for(r"ready\$ ")
    type_in("jobs; date +%s\n")
    wait_for(r"\[1\]\+ +Stopped .*perl")
    wait_for(r"\d{10}\r\n")
    type_in("fg\n")
    wait_for("goes on\r\n")
    type_in("\x03")
    wait_for(r"ready\$ ")
    type_in("echo of the job: $?\n")
    wait_for("of the job: 130\r\n")
    type_in("stty size; test -t 0 && echo a terminal\n")
    wait_for("a terminal\r\n")
    type_in("date +at:%s; exit 7\n")
    wait_for(r"at:%s; exit 7\r\n")
    wait_for(r"at:\d+")
    _, status = os.waitpid(pid, 0)
    print(everything, file=sys.stderr)
    print("exit code", os.waitstatus_to_exitcode(status))


main()
