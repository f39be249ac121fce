"""The system-call filter and the cage, felt from inside by real candidates."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.judge import Judge, Limits, Status, Verdict
from kernelwright.tasks import load_task
from tests.corpus import TASKS


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(limits=Limits(load_s=10, call_s=5, memory_bytes=2 << 30)) as judge:
        yield judge


def run(judge: Judge, code: str) -> Verdict:
    """Runs code at the candidate's import; what it finds it raises."""
    source = f"import ctypes, os, threading\nimport torch\nlibc = ctypes.CDLL(None, use_errno=True)\n{code}\n"
    return judge.judge(load_task(TASKS / "softmax.py"), source, timed=False)


def finding(judge: Judge, code: str) -> str:
    """What the code raises as ValueError, in words."""
    verdict = run(judge, code)
    assert verdict.status is Status.LOAD_ERROR, verdict
    assert verdict.message.startswith("raised ValueError: "), verdict.message
    return verdict.message.removeprefix("raised ValueError: ")


@pytest.mark.parametrize(
    "call",
    [
        "libc.ptrace(16, os.getppid(), 0, 0)",
        "libc.ptrace(0, 0, 0, 0)",
        "libc.unshare(0x10000000)",
        "libc.prctl(4, 0, 0, 0, 0)",
        "libc.process_vm_readv(os.getppid(), None, 0, None, 0, 0)",
        "libc.process_vm_writev(os.getppid(), None, 0, None, 0, 0)",
        "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
        "libc.umount2(b'/tmp', 2)",
        "libc.setns(0, 0)",
        "libc.chroot(b'/tmp')",
        "libc.syscall(425, 8, None)",
        "libc.syscall(323, 0)",
        "libc.syscall(438, 0, 3, 0)",
        "os.kill(1, 0)",
        "os.kill(0, 15)",
        "os.killpg(os.getpgid(0), 15)",
    ],
)
def test_attack_ends_the_process(judge: Judge, call: str) -> None:
    verdict = run(judge, call)
    assert verdict.status is Status.TAMPER
    assert "forbidden system call" in verdict.message


@pytest.mark.parametrize(
    "call", ["os.fork()", "os.execv('/bin/true', ['true'])", "os.posix_spawn('/bin/true', ['true'], {})"]
)
def test_processes_and_programs_are_refused(judge: Judge, call: str) -> None:
    verdict = run(judge, call)
    assert verdict.status is Status.LOAD_ERROR
    assert "PermissionError" in verdict.message


def test_subprocess_is_refused(judge: Judge) -> None:
    verdict = run(judge, "import subprocess\nsubprocess.run(['/bin/true'])")
    assert verdict.status is Status.LOAD_ERROR
    assert "PermissionError" in verdict.message


def test_threads_are_allowed(judge: Judge) -> None:
    code = """
done = []
threads = [threading.Thread(target=done.append, args=(i,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
raise ValueError(len(done))
"""
    assert finding(judge, code) == "8"


def test_signals_to_itself_are_allowed(judge: Judge) -> None:
    code = """
import signal
got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
os.kill(os.getpid(), signal.SIGUSR1)
signal.raise_signal(signal.SIGUSR1)
raise ValueError(len(got))
"""
    assert finding(judge, code) == "2"


def test_processes_seen_are_its_own(judge: Judge) -> None:
    seen = finding(judge, "raise ValueError(sorted(int(n) for n in os.listdir('/proc') if n.isdigit()))")
    assert seen == "[1, 2]"


@pytest.mark.parametrize("name", ["environ", "mem", "maps", "root", "cwd", "exe"])
def test_supervisor_is_out_of_reach(judge: Judge, name: str) -> None:
    code = f"""
try:
    path = "/proc/1/{name}"
    raise ValueError("open " + (os.readlink(path) if os.path.islink(path) else repr(open(path, "rb").read(4096))))
except OSError as error:
    raise ValueError(error.strerror) from None
"""
    assert finding(judge, code) == "Permission denied"


def test_descriptors_are_output_and_one_socket(judge: Judge) -> None:
    code = """
kinds = []
for fd in range(256):
    try:
        kinds.append(os.readlink(f"/proc/self/fd/{fd}").partition(":")[0])
    except OSError:
        pass
raise ValueError(kinds)
"""
    assert finding(judge, code) == str(["/dev/null", "pipe", "pipe", "socket"])


def test_root_holds_nothing_of_the_user(judge: Judge) -> None:
    hidden = [str(Path(__file__).parent), "/etc/passwd", "/etc/hostname", "/var", "/run", "/dev/tty", "/dev/mem"]
    assert finding(judge, f"raise ValueError([p for p in {hidden!r} if os.path.exists(p)])") == "[]"


def test_only_temporary_folders_can_be_written(judge: Judge) -> None:
    code = """
import kernelwright
places = ["/", "/usr", "/proc", "/dev", os.path.dirname(kernelwright.__file__), os.path.dirname(torch.__file__)]
written = []
for place in places:
    try:
        os.close(os.open(os.path.join(place, "x-written"), os.O_CREAT | os.O_WRONLY))
        written.append(place)
    except OSError:
        pass
raise ValueError(written)
"""
    assert finding(judge, code) == "[]"


def test_no_capability_and_no_new_privilege(judge: Judge) -> None:
    code = """
lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
raise ValueError(" ".join(lines[name].strip() for name in ("CapPrm", "CapEff", "NoNewPrivs", "Seccomp")))
"""
    assert finding(judge, code) == "0000000000000000 0000000000000000 1 2"


def test_limits_cannot_be_raised(judge: Judge) -> None:
    code = """
import resource
kinds = [resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE]
raised = []
for kind in kinds:
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        raised.append(kind)
    except (ValueError, OSError):
        pass
raise ValueError(raised)
"""
    assert finding(judge, code) == "[]"


def test_network_has_no_interface_that_is_up(judge: Judge) -> None:
    code = """
import socket
try:
    socket.create_connection(("127.0.0.1", 9), timeout=1)
except OSError as error:
    raise ValueError(error.strerror) from None
"""
    assert finding(judge, code) == "Network is unreachable"


@pytest.mark.parametrize("path", ["kernel/core_pattern", "kernel/modprobe", "vm/drop_caches", "kernel/sysrq"])
def test_kernel_settings_cannot_be_written(judge: Judge, path: str) -> None:
    code = f"""
try:
    os.close(os.open("/proc/sys/{path}", os.O_WRONLY))
except OSError:
    raise ValueError("refused") from None
raise ValueError("open for writing")
"""
    assert finding(judge, code) == "refused"


def test_environment_is_clean(judge: Judge) -> None:
    names = finding(judge, "raise ValueError(' '.join(sorted(os.environ)))").split()
    allowed = {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "OMP_NUM_THREADS", "TZ", "HOME", "TMPDIR", "LD_PRELOAD"}
    assert {n for n in names if not n.startswith(("MALLOC_", "TORCH", "OMP_", "KMP_", "GOMP_"))} <= allowed


def test_judge_does_not_share_its_process_group(judge: Judge) -> None:
    assert int(finding(judge, "raise ValueError(os.getpgid(0))")) != os.getpgid(0)
