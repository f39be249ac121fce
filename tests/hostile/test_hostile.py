"""Candidates that attack the machine. After each: the right status, a judge that still works, nothing left behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.judge import Judge, Limits, Status, Verdict, _channel
from kernelwright.tasks import Task, load_task
from tests.corpus import HONEST, TASKS

SECRET = "kernelwright-test-secret-5e1f"
PATIENCE = 40
# On a loaded machine the samples of one short hearing may miss the kernel.
HEARINGS = 4
WATCHED = tuple(map(Path, ("/tmp", "/dev/shm", "/var/tmp", os.getcwd(), Path.home())))
# What candidates of this file, or the judge on their behalf, would leave in folders that others use as well.
OURS = ("full", "kwhostile", "candidate.py", "kernel-")

ZEROS = """
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)
"""


class Stuck(BaseException):
    """The judge did not come back."""


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(TASKS / "softmax.py")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The temporary folder of the judge under test, watched for what is left in it."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="module")
def judge(scratch: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELWRIGHT_TEST_SECRET", SECRET)
        patch.setenv("KERNELWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(tempfile, "tempdir", str(scratch))
        patch.setattr(_channel, "SEND_SECONDS", 2.0)
        with Judge(limits=Limits(load_s=2, call_s=2, build_s=4, total_s=6, memory_bytes=2 << 30)) as judge:
            yield judge
    assert list(scratch.iterdir()) == []


@pytest.fixture
def hear(judge: Judge, task: Task, scratch: Path) -> Iterator[object]:
    """Judges a candidate, then makes sure that nothing of it is left and that the judge is as good as before."""
    judge.prepare(task)
    files, processes = _files(scratch), _descendants()

    def hear(source: str) -> Verdict:
        return _patiently(judge, task, source)

    yield hear
    _until(lambda: _descendants() <= processes)
    assert _descendants() <= processes, "a process is left"
    assert _files(scratch) <= files, "a file is left"
    honest = [_patiently(judge, task, (HONEST / "softmax_plain.py").read_text())]
    while honest[-1].status is not Status.UNTIMED and len(honest) < HEARINGS:
        honest.append(_patiently(judge, task, (HONEST / "softmax_plain.py").read_text()))
    assert honest[-1].status is Status.UNTIMED, [str(verdict.message) for verdict in honest]


def _patiently(judge: Judge, task: Task, source: str) -> Verdict:
    def give_up(*_: object) -> None:
        raise Stuck(f"no verdict after {PATIENCE} s")

    previous = signal.signal(signal.SIGALRM, give_up)
    # Again and again: what is given up may block once more on its way out.
    signal.setitimer(signal.ITIMER_REAL, PATIENCE, 1)
    try:
        return judge.judge(task, source, timed=False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _files(scratch: Path) -> set[str]:
    found = {str(path) for path in scratch.rglob("*")}
    for folder in WATCHED:
        found |= {str(path) for path in folder.iterdir() if path.name.startswith(OURS)}
    return found


def _descendants() -> set[int]:
    """Processes started by this one, however indirectly; zombies count."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, queue = set(), [os.getpid()]
    while queue:
        more = children.get(queue.pop(), [])
        found.update(more)
        queue += more
    return found


def _orphans(marker: str) -> list[int]:
    """Processes anywhere whose name, command line or environment carries the marker."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        for part in ("comm", "cmdline", "environ"):
            try:
                if marker.encode() in (entry / part).read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def _until(condition: object, seconds: float = 3.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:  # type: ignore[operator]
        time.sleep(0.02)


def at_import(code: str) -> str:
    return f"{code}\n{ZEROS}"


def in_forward(code: str, imports: str = "import ctypes, os, signal, socket, sys, time") -> str:
    body = "\n".join("        " + line for line in code.strip().splitlines())
    return f"{imports}\nimport torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n{body}\n"


def in_native(code: str, call: str = "lib.attack()") -> str:
    text = f'from kernelwright import native\nimport torch\n\nlib = native.cpp(r"""{code}""")\n'
    return (
        f"{text}\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        {call}\n        return x * 0\n"
    )


# Time


def test_endless_loop_at_import(hear) -> None:
    verdict = hear(at_import("while True: pass"))
    assert verdict.status is Status.TIMEOUT
    assert verdict.stage == "load"


def test_endless_loop_in_forward(hear) -> None:
    verdict = hear(in_forward("while True: pass"))
    assert verdict.status is Status.TIMEOUT
    assert verdict.stage == "check"


def test_endless_loop_in_native_code(hear) -> None:
    code = 'extern "C" void attack() { for (volatile int i = 0;; i++) ; }'
    assert hear(in_native(code)).status is Status.TIMEOUT


@pytest.mark.slow
def test_calls_just_under_the_limit_meet_the_total_limit(hear) -> None:
    started = time.monotonic()
    verdict = hear(in_forward("time.sleep(1.6)\nreturn torch.softmax(x, dim=-1)"))
    assert verdict.status is Status.TIMEOUT
    assert time.monotonic() - started < 20


def test_message_that_trickles(hear) -> None:
    code = 'os.write(3, b"\\0\\x10\\0\\0")\nwhile True:\n    os.write(3, b" ")\n    time.sleep(0.2)'
    assert hear(in_forward(code)).status is Status.TIMEOUT


@pytest.mark.slow
def test_compilation_without_end(hear) -> None:
    bomb = """
template <int N, int M> struct bomb {
    typename bomb<N - 1, 2 * M>::type a; typename bomb<N - 1, 2 * M + 1>::type b; using type = bomb;
};
template <int M> struct bomb<0, M> { using type = int; };
extern "C" int attack() { return sizeof(bomb<900, 1>); }
"""
    verdict = hear(in_native(bomb))
    assert verdict.status is Status.TIMEOUT
    assert verdict.stage == "build"


@pytest.mark.slow
def test_endless_row_of_compilations(hear) -> None:
    code = (
        "import time\nfrom kernelwright import native\n"
        "for _ in range(10**6):\n"
        "    native.cpp(f'extern \"C\" long f() {{ return {time.time_ns()}; }}')\n"
    )
    assert hear(at_import(code)).status is Status.TIMEOUT


@pytest.mark.slow
def test_answer_of_the_compiler_never_read(hear) -> None:
    code = """
import json, os, struct, time
body = json.dumps({"op": "build", "source": {"language": "cpp", "text": "x y z;\\n" * 20000, "flags": []}}).encode()
os.write(3, struct.pack("!I", len(body)) + body)
time.sleep(1000)
"""
    assert hear(at_import(code)).status in (Status.TIMEOUT, Status.COMPILE_ERROR)


# Processes


def test_fork_is_refused(hear) -> None:
    verdict = hear(in_forward("while True: os.fork()"))
    assert verdict.status is Status.CRASH
    assert "PermissionError" in verdict.message


def test_fork_bomb_in_native_code(hear) -> None:
    code = '#include <unistd.h>\nextern "C" void attack() { for (int i = 0; i < 100000; i++) fork(); }'
    assert hear(in_native(code)).status is Status.WRONG_VALUE


def test_daemon(hear) -> None:
    marker = f"kwdaemon{os.getpid() % 100000}"
    code = f"""
#include <sys/prctl.h>
#include <unistd.h>
extern "C" void attack() {{
    if (fork() == 0 || vfork() == 0) {{ setsid(); prctl(PR_SET_NAME, "{marker}"); for (;;) pause(); }}
}}
"""
    assert hear(in_native(code)).status is Status.WRONG_VALUE
    assert _orphans(marker) == []


def test_thread_left_running(hear) -> None:
    marker = f"kwthread{os.getpid() % 100000}"
    code = f"""
#include <pthread.h>
#include <sys/prctl.h>
static void* spin(void*) {{ prctl(PR_SET_NAME, "{marker}"); for (;;) ; }}
extern "C" void attack() {{ pthread_t t; pthread_create(&t, 0, spin, 0); }}
"""
    verdict = hear(in_native(code))
    assert verdict.status in (Status.WRONG_VALUE, Status.TAMPER)
    assert _orphans(marker) == []


@pytest.mark.parametrize("target", ["os.getppid()", "-1", "0", "1"])
def test_signal_to_others(hear, target: str) -> None:
    assert hear(in_forward(f"os.kill({target}, signal.SIGKILL)")).status is Status.TAMPER


# Ends


def test_exit_with_zero(hear) -> None:
    verdict = hear(in_forward("os._exit(0)"))
    assert verdict.status is Status.CRASH
    assert "exit code 0" in verdict.message


def test_segmentation_fault(hear) -> None:
    verdict = hear(in_forward("ctypes.string_at(0)"))
    assert verdict.status is Status.CRASH
    assert "SIGSEGV" in verdict.message


def test_abort(hear) -> None:
    verdict = hear(in_forward("os.abort()"))
    assert verdict.status is Status.CRASH
    assert "SIGABRT" in verdict.message


@pytest.mark.parametrize("number", [34, 40, 64])
def test_signal_without_a_name(hear, number: int) -> None:
    assert hear(in_forward(f"os.kill(os.getpid(), {number})")).status is Status.CRASH


def test_channel_closed_and_alive(hear) -> None:
    verdict = hear(in_forward("os.close(3)\ntime.sleep(1000)"))
    assert verdict.status in (Status.CRASH, Status.TAMPER)
    assert "memory" not in verdict.message


WATCHED_CALL = """
class ModelNew(torch.nn.Module):
    seen = False
    calls = 0

    def forward(self, x):
        self.calls += self.seen
        if self.calls == 2:
            {attack}
        self.seen = self.seen or torch._C._autograd._profiler_enabled()
        return softmax(x)
"""


@pytest.mark.parametrize(
    ("attack", "status"),
    [
        ("os._exit(0)", Status.CRASH),
        ("os.kill(os.getpid(), signal.SIGSEGV)", Status.CRASH),
        ("os.kill(-1, 9)", Status.TAMPER),
        pytest.param("time.sleep(1000)", Status.TIMEOUT, marks=pytest.mark.slow),
        pytest.param(
            "os.kill(os.getpid(), signal.SIGSTOP)\n            time.sleep(1000)", Status.TIMEOUT, marks=pytest.mark.slow
        ),
    ],
    ids=["exit", "crash", "forbidden", "hang", "stop"],
)
def test_end_in_a_call_that_is_watched(hear, attack: str, status: Status) -> None:
    honest = (HONEST / "softmax_plain.py").read_text()
    head, _, rest = honest.partition("class ModelNew")
    body = rest.partition("def forward(self, x):")[2]
    function = "def softmax(x):" + "\n".join(line[4:] for line in body.split("\n"))
    source = f"import os, signal, time\n{head}{function}\n\n{WATCHED_CALL.format(attack=attack)}"
    assert hear(source).status is status


# Memory and disk


def test_hundred_gigabytes_of_tensor(hear) -> None:
    assert hear(in_forward("return torch.ones(25 << 30)")).status is Status.OOM


def test_hundred_gigabytes_of_native_memory(hear) -> None:
    code = """
#include <cstdlib>
extern "C" long attack() {
    long got = 0;
    for (int i = 0; i < 1600; i++) {
        void* p = malloc(64ul << 20);
        if (!p) break;
        for (size_t at = 0; at < 64ul << 20; at += 1 << 16) static_cast<volatile char*>(p)[at] = 1;
        got++;
    }
    return got;
}
"""
    verdict = hear(in_native(code, "raise MemoryError(f'{lib.attack()} blocks of 64 MiB')"))
    assert verdict.status is Status.OOM
    got = re.search(r"(\d+) blocks of 64 MiB", verdict.message)
    assert got is not None
    assert int(got[1]) * 64 <= 2048


def test_memory_that_no_process_owns(hear) -> None:
    code = """
taken, block = 0, bytes(96 << 20)
for _ in range(24):
    taken += os.write(os.memfd_create("x"), block)
raise ValueError(f"took {taken >> 20} MiB")
"""
    verdict = hear(in_forward(code))
    assert verdict.status in (Status.OOM, Status.CRASH)
    assert "took" not in verdict.message


def test_disk_fill(hear) -> None:
    code = 'with open("/tmp/full", "wb") as file:\n    while True:\n        file.write(bytes(1 << 24))'
    verdict = hear(in_forward(code))
    assert verdict.status is Status.CRASH
    assert "No space left" in verdict.message or "File too large" in verdict.message


def test_fifty_megabytes_of_output(hear) -> None:
    code = """
for _ in range(50):
    os.write(1, b"o" * (1 << 20))
    os.write(2, b"e" * (1 << 20))
os._exit(3)
"""
    verdict = hear(in_forward(code))
    assert verdict.status is Status.CRASH
    assert len(verdict.evidence["output"]) <= 64 << 10


# Reaching out


@pytest.mark.parametrize("folder", ["HOME", "CWD", "/dev/shm", "/var/tmp", "/tmp", "/"])
def test_writing_leaves_nothing(hear, folder: str) -> None:
    place = {"HOME": str(Path.home()), "CWD": os.getcwd()}.get(folder, folder)
    name = f"kwhostile{os.getpid()}"
    code = f"""
try:
    os.makedirs({place!r}, exist_ok=True)
    with open(os.path.join({place!r}, {name!r}), "w") as file:
        file.write("here")
except OSError:
    pass
return torch.zeros_like(x)
"""
    assert hear(in_forward(code)).status is Status.WRONG_VALUE
    assert not (Path(place) / name).exists()


def test_network(hear) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        port = server.getsockname()[1]
        verdict = hear(in_forward(f'socket.create_connection(("127.0.0.1", {port}), timeout=1)'))
        assert verdict.status is Status.CRASH
        assert "OSError" in verdict.message or "refused" in verdict.message.lower()
        with pytest.raises(TimeoutError):
            server.accept()


def test_secrets_of_the_environment(hear) -> None:
    code = """
seen = repr(dict(os.environ))
for pid in ["self", *filter(str.isdigit, os.listdir("/proc"))]:
    try:
        seen += open(f"/proc/{pid}/environ", errors="replace").read()
    except OSError:
        pass
raise ValueError("found" if "test-secret" in seen else "nothing")
"""
    verdict = hear(in_forward(code))
    assert verdict.status is Status.CRASH
    assert "nothing" in verdict.message


def test_files_of_the_user_and_the_tests(hear) -> None:
    wanted = [
        str(Path.home() / ".bashrc"),
        str(Path.home() / ".ssh"),
        __file__,
        str(TASKS),
        "/etc/passwd",
        "/etc/shadow",
    ]
    code = f"raise ValueError('seen: ' + ' '.join(path for path in {wanted!r} if os.path.exists(path)))"
    verdict = hear(in_forward(code))
    assert verdict.status is Status.CRASH
    assert verdict.message.strip().endswith("seen:")


def test_settings_of_the_kernel(hear) -> None:
    code = """
for path in ("kernel/core_pattern", "kernel/modprobe", "vm/drop_caches"):
    try:
        os.close(os.open("/proc/sys/" + path, os.O_WRONLY))
    except OSError:
        continue
    raise ValueError(path + " can be written")
return torch.zeros_like(x)
"""
    assert hear(in_forward(code)).status is Status.WRONG_VALUE


def test_words_that_cannot_be_printed(hear) -> None:
    verdict = hear(in_forward('raise ValueError("\\ud800 \\x1b[2J")'))
    assert verdict.status is Status.CRASH
    verdict.message.encode()
    assert "\x1b" not in verdict.message
