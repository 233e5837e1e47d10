"""`weft ctl`: asks a running process how many of weft's workers are active, and changes that. Standard library only.

The command is a queued SIGURG whose value says what is wanted; the answer comes by datagram (src/os/control.h). The
signal goes to a thread of weft's, if there is one that takes it: it would cut a sleep of the program's own short.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import signal
import socket
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HELP = """\
Usage: weft ctl PID workers=N|workers=all|status

Switches workers of a running process off or on, or says how many there are. The process uses weft: it was started by
`weft run`, or is linked to libweft. Units that a worker leaves go on on others, so that fewer CPUs do all the work.

  weft ctl 4711 status        How many workers there are, and how many of them are active.
  weft ctl 4711 workers=2     From now on two run, the program's own threads counting as one.
  weft ctl 4711 workers=all   All of them again.

Exit status: 0 if the process has answered, 1 if not, 2 for a wrong command.
"""

ASK_ONLY, ALL = -1, 0
PATIENCE_S = 2.0  # for an answer
STOPPING_S = 1.0  # for workers that run something still
PAUSE_S = 0.02
ANSWER = re.compile(r"workers=(\d+) active=(\d+) stopping=(\d+) packings=(\d+)\n")
CREDENTIALS = struct.Struct("=iII")  # of SCM_CREDENTIALS: process, user, group
SI_QUEUE = -1
SIGNAL_INFORMATION = struct.Struct("=iii4xiIi100x")  # siginfo_t of a queued signal, its value an int
QUEUE_TO_THREAD = {"x86_64": 297, "aarch64": 240, "ppc64le": 322}  # rt_tgsigqueueinfo(2)


class CtlError(Exception):
    """One line for the user."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Answer:
    workers: int
    active: int
    stopping: int
    packings: int

    def __str__(self) -> str:
        text = f"{self.active} of {self.workers} workers {'is' if self.active == 1 else 'are'} active"
        if self.stopping:
            text += f"; still at work: {self.stopping} more"
        if self.packings:
            text += f"; packings: {self.packings}"
        return text


def parse(arguments: list[str]) -> tuple[int, int]:
    """The process, and the value to send."""
    if len(arguments) != 2:
        raise CtlError("expected PID and status, workers=N or workers=all", 2)
    who, what = arguments
    if re.fullmatch(r"[0-9]{1,9}", who) is None or int(who) == 0:
        raise CtlError(f"'{who}' is not the number of a process", 2)
    if what == "status":
        return int(who), ASK_ONLY
    if what == "workers=all":
        return int(who), ALL
    if re.fullmatch(r"workers=[0-9]{1,6}", what) is None or int(what.partition("=")[2]) == 0:
        raise CtlError(f"'{what}': expected status, workers=N (N from 1 on) or workers=all", 2)
    return int(who), int(what.partition("=")[2])


def read_status(path: str) -> dict[str, str]:
    """The fields of a status file of /proc; OSError if there is none."""
    text = Path(path).read_text(errors="replace")
    return {name: value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}


def has_signal(mask: str) -> bool:
    return bool(int(mask, 16) >> (signal.SIGURG - 1) & 1)


def status_of(process: int) -> dict[str, str]:
    """The fields of its status file, if it is there."""
    try:
        fields = read_status(f"/proc/{process}/status")
    except OSError:
        raise CtlError(f"there is no process {process}") from None
    if fields.get("Tgid") != str(process):
        raise CtlError(f"there is no process {process}")  # the number is that of a thread
    state = fields.get("State", "")[:1]
    if state in ("Z", "X") and int(fields.get("Threads", "1")) <= 1:  # main may have ended before other threads
        raise CtlError(f"there is no process {process}")
    return fields


def check_process(process: int) -> None:
    """Whether it is there, runs, and catches the signal."""
    fields = status_of(process)
    state = fields.get("State", "")[:1]
    # Bug: a command was sent to it, was said to have failed, and took effect once the process went on.
    if state == "T":
        raise CtlError(f"process {process} is stopped (kill -CONT {process})")
    if state == "t":
        raise CtlError(f"process {process} is stopped by a debugger")
    if not has_signal(fields.get("SigCgt", "0")):
        raise CtlError(
            f"process {process} does not run on weft, has not come to use it yet, or was started with WEFT_CTL=off"
        )


def is_pending(process: int) -> bool:
    """Whether the signal still waits for a thread that takes it."""
    for path in Path(f"/proc/{process}/task").glob("[0-9]*/status"):
        try:
            fields = read_status(str(path))
        except OSError:
            continue  # it has ended
        if has_signal(fields.get("SigPnd", "0")) or has_signal(fields.get("ShdPnd", "0")):
            return True
    return False


def thread_of_weft(process: int) -> int | None:
    """One that takes the signal, but hardly any other: of weft's threads the one that runs none of the program's code
    blocks the most, those of workers all that is not about what they run."""
    found: list[tuple[int, int]] = []
    for path in Path(f"/proc/{process}/task").glob("[0-9]*/status"):
        try:
            blocked = int(re.findall(r"^SigBlk:\s*([0-9a-f]+)$", path.read_text(errors="replace"), re.MULTILINE)[0], 16)
        except (OSError, IndexError):
            continue  # it has ended
        thread = int(path.parent.name)
        takes, takes_others = (not blocked >> (number - 1) & 1 for number in (signal.SIGURG, signal.SIGTERM))
        if takes and not takes_others and thread != process:
            found.append((blocked.bit_count(), thread))
    return max(found)[1] if found else None


def send_to_thread(libc: ctypes.CDLL, process: int, value: int) -> bool:
    number = QUEUE_TO_THREAD.get(platform.machine())
    thread = thread_of_weft(process)
    if number is None or thread is None:
        return False
    information = SIGNAL_INFORMATION.pack(signal.SIGURG, 0, SI_QUEUE, os.getpid(), os.getuid(), value)
    return libc.syscall(ctypes.c_long(number), process, thread, int(signal.SIGURG), information) == 0


def send(process: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if send_to_thread(libc, process, value):
        return
    if libc.sigqueue(process, signal.SIGURG, ctypes.c_void_p(value & 0xFFFFFFFF)) == 0:
        return
    error = ctypes.get_errno()
    try:
        raise OSError(error, os.strerror(error))
    except PermissionError:
        raise CtlError(f"process {process} belongs to another user") from None
    except ProcessLookupError:
        raise CtlError(f"there is no process {process}") from None
    except OSError as problem:
        raise CtlError(f"process {process}: {problem.strerror}") from None


class Control:
    """Commands to one process, and its answers."""

    def __init__(self, process: int) -> None:
        self.process = process
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(f"\0weft-ctl/{os.getpid()}")

    def ask(self, value: int) -> Answer:
        send(self.process, value)
        end = time.monotonic() + PATIENCE_S
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                data, ancillary, _, _ = self.socket.recvmsg(256, socket.CMSG_SPACE(CREDENTIALS.size))
            except TimeoutError:
                break
            senders = [CREDENTIALS.unpack(part)[0] for _, kind, part in ancillary if kind == socket.SCM_CREDENTIALS]
            answer = ANSWER.fullmatch(data.decode(errors="replace"))
            if senders == [self.process] and answer is not None:
                return Answer(*map(int, answer.groups()))
        if is_pending(self.process):
            later = "" if value == ASK_ONLY else "; the command may still take effect"
            raise CtlError(
                f"process {self.process} does not answer: SIGURG is pending, no thread of it has taken that yet{later}"
            )
        status_of(self.process)  # it may have ended
        raise CtlError(f"process {self.process} does not answer: it has taken SIGURG, but no answer has come")


def main(arguments: list[str]) -> int:
    if arguments in (["--help"], ["-h"]):
        print(HELP, end="")
        return 0
    try:
        process, value = parse(arguments)
        check_process(process)
        control = Control(process)
        answer = control.ask(value)
        end = time.monotonic() + STOPPING_S
        # Each time anew, those that run on are told.
        while value != ASK_ONLY and answer.stopping and time.monotonic() < end:
            time.sleep(PAUSE_S)
            answer = control.ask(value)
        more = value > answer.workers
        print(f"{answer}; it has no more, though {value} were asked for" if more else answer)
    except CtlError as error:
        print(f"weft: ctl: {error}", file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"weft: ctl: {error.strerror}", file=sys.stderr)
        return 1
    return 0
