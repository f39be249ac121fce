"""How close the built-in synthesiser's Triton kernels come to a GPU's bandwidth, on KernelBench's level 1 at full size.

    python benchmarks/bench_builtin_gpu.py --suite-dir KernelBench      about 25 minutes on an H200
    python benchmarks/bench_builtin_gpu.py --suite-dir KernelBench --problems 19,23,40 --no-judge --winners WINNERS
    kernelwright bench kernelbench:1 --solutions WINNERS --attempted --baseline eager,compile

For every problem a handful of genomes is written and raced, the quickest is held against eager, torch.compile and a
plain copy in turns, with the caches emptied before each, and then judged. What is known of a problem is kept in the
folder, so that the same command goes on where it was left; after --no-judge, the same without it judges what was
raced, or `kernelwright bench` does. Each problem has a process of its own: a kernel that fails takes nothing else
along.

Everything is compiled first, several problems at a time (--beside), which fills the compilers' caches; then a problem
is measured while the next are read, and nobody else is on the device.
"""

from __future__ import annotations

import argparse
import fcntl
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from kernelwright.judge import InfraError, Judge
from kernelwright.propose.builtin import Builtin, CannotWriteError, TritonGenome
from kernelwright.propose.builtin._proposer import LANGUAGES, Desk
from kernelwright.tasks import Task, TaskError
from kernelwright.tasks.suites import select

POINTWISE = (5, 19, 20, 21, 22, 25, 26, 27, 28, 29, 30, 31, 32, 88)
ROWS = (23, 24, 33, 34, 35, 36, 37, 38, 39, 40)
REDUCTIONS = (47, 48, 49, 51, 52, 53)
LOSSES = (94, 95, 96, 98, 99, 100)
SCANS = (89, 90, 91, 92, 93)
POOLS = (41, 42, 43, 44, 45, 46)
PROBLEMS = (*POINTWISE, *ROWS, *REDUCTIONS, *LOSSES, *SCANS, *POOLS)
# Tried in this order as far as they make a difference to the problem; the usual one is always the first.
VARIED: tuple[dict[str, Any], ...] = (
    {"block": 2048, "warps": 8, "tile": 8192, "tile_warps": 16},
    {"chip": 32768, "tile_warps": 16},
    {"block": 4096, "warps": 8, "columns": 64},
    {"block": 512, "rows": 4},
    {"block": 2048, "warps": 8, "rows": 2},
    {"hold": 32768, "tile_warps": 32},
    {"stages": 3, "tile": 2048},
    {"evict": True},
    {"columns": 256, "tile": 8192},
    {"parts": 1024, "tile": 8192},
    {"hold": 16384, "tile_warps": 16, "evict": True},
    {"block": 512, "tile_warps": 4, "tile": 2048},
    {"chip": 65536, "tile_warps": 32},
    {"stages": 2, "tile": 8192, "tile_warps": 16},
    {"block": 8192, "warps": 16, "columns": 512, "tile": 16384},
    {"parts": 16384, "tile": 2048},
    {"online": False},
)
# Problems that are read while one is measured.
AHEAD = 2
FLUSH = 256 << 20
RACED, HELD = 7, 25
# Elements that are copied and read to find out what the memory gives.
PLAIN = 1 << 29


def main() -> None:
    asked = _asked()
    asked.out.mkdir(parents=True, exist_ok=True)
    if asked.one is None:
        _all(asked)
    elif asked.compile_only:
        _compile(asked.one, asked)
    else:
        found = _measured(asked.one, asked)
        (asked.out / f"{asked.one}.json").write_text(json.dumps(found, indent=1) + "\n")


def _all(asked: argparse.Namespace) -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as asked.texts:
        open_ = [number for number in asked.problems if asked.again or not _is_done(_known(number, asked), asked)]
        if asked.beside:
            _at_once(asked.beside, open_, lambda number: _in_a_process(number, asked, asked.most, "--compile-only"))
            print(f"compiled {len(open_)} problems in {time.monotonic() - began:.0f} s", flush=True)

        def attempt(number: int) -> None:
            left = asked.seconds - (time.monotonic() - began)
            if left > 0 and number in open_:
                _in_a_process(number, asked, left)
            if found := _known(number, asked):
                print(_line(found, _ceiling(_all_known(asked))), flush=True)

        _at_once(1 + AHEAD, asked.problems, attempt)
    _summary(_all_known(asked))


def _at_once(most: int, numbers: Iterable[int], work: Callable[[int], None]) -> None:
    with ThreadPoolExecutor(most) as pool:
        for _ in pool.map(work, numbers):
            pass


def _known(number: int, asked: argparse.Namespace) -> dict[str, Any]:
    """What the folder knows of a problem."""
    kept = asked.out / f"{number}.json"
    return dict(json.loads(kept.read_text())) if kept.is_file() else {}


def _all_known(asked: argparse.Namespace) -> list[dict[str, Any]]:
    return [_known(int(path.stem), asked) for path in sorted(asked.out.glob("*.json"))]


def _is_done(found: dict[str, Any], asked: argparse.Namespace) -> bool:
    return bool(found) and ("verdict" in found or "genome" not in found or not asked.judged)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite-dir", type=Path, default=os.environ.get("KERNELBENCH"))
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "out")) / "builtin-gpu")
    parser.add_argument("--problems", type=_numbers, default=PROBLEMS, help="such as 19,21,23")
    parser.add_argument("--genomes", type=int, default=8, help="raced for each problem")
    parser.add_argument("--genome", action="append", default=[], help="tried first, such as tile=8192,stages=2")
    parser.add_argument("--seconds", type=float, default=3600.0, help="no problem is begun after that")
    parser.add_argument("--most", type=float, default=150.0, help="seconds of one problem")
    parser.add_argument("--no-judge", dest="judged", action="store_false")
    parser.add_argument("--no-compile", dest="compiled", action="store_false")
    parser.add_argument("--again", action="store_true", help="measure what is known already once more")
    parser.add_argument("--beside", type=int, default=4, help="problems compiled at a time before any is measured")
    parser.add_argument(
        "--winners", type=Path, help="where the quickest kernels are left, as `kernelwright bench` reads"
    )
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--texts", default="", help=argparse.SUPPRESS)
    parser.add_argument("--compile-only", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _in_a_process(number: int, asked: argparse.Namespace, left: float, *more: str) -> None:
    """Measures a problem. One that only the end of all time cuts off is left to the next call."""
    command = [sys.executable, __file__, "--one", str(number), "--out", str(asked.out)]
    command += ["--genomes", str(asked.genomes), *(f"--genome={one}" for one in asked.genome)]
    command += [] if asked.suite_dir is None else ["--suite-dir", str(asked.suite_dir)]
    command += [] if asked.judged else ["--no-judge"]
    command += [] if asked.compiled else ["--no-compile"]
    command += ["--again"] if asked.again else []
    command += [] if asked.winners is None else ["--winners", str(asked.winners)]
    command += ["--texts", asked.texts, *more]
    log = asked.out / f"{number}.log"
    with log.open("w") as told:
        try:
            most = min(left, asked.most)
            ran = subprocess.run(command, stdout=told, stderr=subprocess.STDOUT, timeout=most, check=False)
            reason = f"ended with {ran.returncode}" if ran.returncode else ""
        except subprocess.TimeoutExpired:
            reason = f"took more than {asked.most:.0f} s" if asked.most <= left else ""
    kept = asked.out / f"{number}.json"
    if reason and not kept.is_file() and not more:
        last = (log.read_text().strip().splitlines() or [""])[-1][:300]
        kept.write_text(json.dumps({"problem": number, "title": "", "reason": f"{reason}: {last}"}) + "\n")


# *** one problem ***


def _measured(number: int, asked: argparse.Namespace) -> dict[str, Any]:
    problem = select(f"kernelbench:1/{number}", asked.suite_dir)[1][0]
    found: dict[str, Any] = {"problem": number, "title": problem.title}
    try:
        task = problem.tasks()[0]
        texts = _texts(number, task, asked)
    except (CannotWriteError, TaskError) as error:
        return {**found, "reason": str(error).splitlines()[0]}
    if asked.compiled:
        importlib.import_module("torch._inductor.compile_fx")  # takes seconds, which nobody else should wait for
    with _alone_on_the_device(asked):
        known = {} if asked.again else _known(number, asked)
        found |= known or _raced(task, texts, asked)
        partial = asked.out / f"{number}.json"
        partial.write_text(json.dumps(found, indent=1) + "\n")
        winner = texts.get(found.get("genome", ""))
        if winner and asked.winners:
            _leave(winner, number, asked.winners)
        return found | _judged(task, winner, asked) if winner and asked.judged else found


def _compile(number: int, asked: argparse.Namespace) -> None:
    """Calls everything once, so that it lies in the compilers' caches."""
    task = select(f"kernelbench:1/{number}", asked.suite_dir)[1][0].tasks()[0]
    texts = _texts(number, task, asked)
    with torch.no_grad():
        model, inputs = _reference(task)
        for place, text in enumerate(texts.values()):
            with suppress(Exception):
                _candidate(text, place, model)(*inputs)
        if asked.compiled:
            _compiled(model, inputs, {})


@contextmanager
def _alone_on_the_device(asked: argparse.Namespace) -> Iterator[None]:
    """The next problem is read in the meantime, and waits here."""
    with (asked.out / "device.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _leave(text: str, number: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"level_1_problem_{number}_sample_0_kernel.py").write_text(text)


def _texts(number: int, task: Task, asked: argparse.Namespace) -> dict[str, str]:
    """Kernels by their genomes; written once by who compiles them first."""
    kept = Path(asked.texts) / f"{number}.json"
    if kept.is_file():
        return dict(json.loads(kept.read_text()))
    texts = _written(Desk(task, Builtin().understand(task), LANGUAGES["triton"]), asked)
    kept.write_text(json.dumps(texts))
    return texts


def _written(desk: Desk, asked: argparse.Namespace) -> dict[str, str]:
    """The usual genome, and others as far as they make a difference."""
    usual = TritonGenome()
    said = [replace(usual, **_genes(text)) for text in asked.genome]
    genomes = dict.fromkeys(desk.settled(one) for one in (usual, *said, *(replace(usual, **one) for one in VARIED)))
    return {str(genome): desk.text(genome) for genome in list(genomes)[: asked.genomes]}


def _genes(text: str) -> dict[str, Any]:
    pairs = [pair.partition("=") for pair in text.split(",")]
    known = TritonGenome.choices
    return {name: next(value for value in known[name] if str(value) == said) for name, _, said in pairs}


def _raced(task: Task, texts: dict[str, str], asked: argparse.Namespace) -> dict[str, Any]:
    with torch.no_grad():
        found = _raced_on(*_reference(task), texts, asked)
    torch.cuda.empty_cache()
    return {**found, "plain": _plain()} if "ms" in found else found


def _raced_on(
    model: torch.nn.Module, inputs: list[Any], texts: dict[str, str], asked: argparse.Namespace
) -> dict[str, Any]:
    right = model(*inputs)
    calls, errors = _candidates(texts, model, inputs, right)
    found: dict[str, Any] = {"bytes": _bytes(inputs, right, model), "errors": errors}
    del right
    if not calls:
        return {**found, "reason": f"no kernel was right: {next(iter(errors.values()))}"}
    times = _in_turns(calls, RACED)
    best = min(times, key=lambda name: times[name])
    others: dict[str, Callable[[], Any]] = {"ours": calls[best], "eager": lambda: model(*inputs)}
    if asked.compiled:
        others |= _compiled(model, inputs, errors)
    held = _in_turns(others, HELD)
    return {**found, "genome": best, "raced_ms": _rounded(times), "ms": _rounded(held)}


def _rounded(times: dict[str, float]) -> dict[str, float]:
    return {name: round(ms, 5) for name, ms in times.items()}


def _reference(task: Task) -> tuple[torch.nn.Module, list[Any]]:
    module = types.ModuleType("reference")
    sys.modules["reference"] = module
    exec(compile(task.source, "reference.py", "exec"), module.__dict__)
    torch.manual_seed(1)
    with torch.device("cuda"):
        model = module.Model(*(task.init if task.init is not None else module.get_init_inputs()))
        inputs = [one.cuda() if isinstance(one, torch.Tensor) else one for one in module.get_inputs()]
    return model.cuda().train(task.mode == "train"), inputs


def _candidates(
    texts: dict[str, str], model: torch.nn.Module, inputs: list[Any], right: Any
) -> tuple[dict[str, Callable[[], Any]], dict[str, str]]:
    """Those that are right, and what is wrong with the others."""
    calls: dict[str, Callable[[], Any]] = {}
    errors: dict[str, str] = {}
    for number, (genome, text) in enumerate(texts.items()):
        try:
            made = _candidate(text, number, model)
            off = _distance(made(*inputs), right)
            if off > 1e-3:
                errors[genome] = f"off by {off:.3g}"
            else:
                calls[genome] = lambda made=made: made(*inputs)
        except Exception as error:
            errors[genome] = f"{type(error).__name__}: {str(error)[:400]}"
            if "illegal" in str(error):
                raise
    return calls, errors


def _candidate(text: str, number: int, model: torch.nn.Module) -> torch.nn.Module:
    made: torch.nn.Module = _loaded(text, number).ModelNew()
    made.load_state_dict(model.state_dict())
    return made.cuda()


def _loaded(text: str, number: int) -> types.ModuleType:
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"builtin_gpu_{os.getpid()}_{number}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _distance(found: Any, right: Any) -> float:
    """The largest difference, in units of the largest value; piece by piece, as results may be large."""
    if isinstance(right, tuple | list):
        return max(_distance(one, other) for one, other in zip(found, right, strict=True))
    if found.shape != right.shape or found.dtype != right.dtype:
        return float("inf")
    pairs = list(zip(_pieces(found), _pieces(right), strict=True))
    scale = max(1e-30, *(float(b.double().abs().max()) for _, b in pairs))
    return max(float((a.double() - b.double()).abs().max()) for a, b in pairs) / scale


def _pieces(tensor: torch.Tensor) -> Iterable[torch.Tensor]:
    return tensor.reshape(-1).split(1 << 27)


def _bytes(inputs: list[Any], right: Any, model: torch.nn.Module) -> int:
    """What must be read and written once: inputs, weights, results."""
    results = right if isinstance(right, tuple | list) else [right]
    every = [one for one in (*inputs, *results, *model.parameters()) if isinstance(one, torch.Tensor)]
    return sum(one.numel() * one.element_size() for one in every)


def _compiled(model: torch.nn.Module, inputs: list[Any], errors: dict[str, str]) -> dict[str, Callable[[], Any]]:
    try:
        made = torch.compile(model)
        made(*inputs)
        return {"compile": lambda: made(*inputs)}
    except Exception as error:
        errors["compile"] = f"{type(error).__name__}: {str(error)[:200]}"
        return {}


# *** time ***


def _in_turns(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Milliseconds of each on the device, one after the other in turns, with the caches emptied before."""
    flush = torch.empty(FLUSH, dtype=torch.int8, device="cuda")
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            taken[name].append(_once(call, flush))
    return {name: statistics.median(all_of) for name, all_of in taken.items()}


def _once(call: Callable[[], Any], flush: torch.Tensor) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    flush.zero_()
    # Long enough for the launches to be waiting when the clock starts.
    torch.cuda._sleep(200_000)
    start.record()
    result = call()
    end.record()
    end.synchronize()
    del result
    return float(start.elapsed_time(end))


def _plain() -> dict[str, float]:
    """Gigabytes a second of a copy, and of reading alone, as torch does them."""
    x = torch.rand(PLAIN, device="cuda")
    y = torch.empty_like(x)
    times = _in_turns({"copy": lambda: y.copy_(x), "read": lambda: x.view(1 << 13, -1).sum(1)}, HELD)
    size = PLAIN * 4 / 1e6
    return {"copy": round(2 * size / times["copy"], 1), "read": round(size / times["read"], 1)}


# *** the judge ***


def _judged(task: Task, source: str, asked: argparse.Namespace) -> dict[str, Any]:
    baselines = ("eager", "compile") if asked.compiled else ("eager",)
    try:
        with Judge(baselines=baselines) as judge:
            verdict = judge.judge(task, source)
        told = verdict.to_json()
        kept = ("status", "accepted", "message", "time_ms", "speedup", "seconds")
        return {"verdict": {name: told[name] for name in kept}}
    except (InfraError, TaskError) as error:
        return {"verdict": {"status": "NONE", "message": str(error)[:300]}}


# *** the table ***


def _line(found: dict[str, Any], ceiling: float) -> str:
    name = f"{found['problem']:>3} {found['title'][:32]:32}"
    if "ms" not in found:
        return f"{name} {found.get('reason', '')[:120]}"
    ms, verdict = found["ms"], found.get("verdict", {})
    others = " ".join(f"{one} {ms[one]:8.3f}" for one in ("eager", "compile") if one in ms)
    said = f"{verdict.get('status', '')} {_interval(verdict)}"
    size = f"{found['bytes'] / 1e9:6.2f} GB {_share(found, ceiling):5.1f}%"
    return f"{name} ours {ms['ours']:8.3f} ms {others} {size} {said} {_unusual(found['genome'])}"


def _interval(verdict: dict[str, Any]) -> str:
    found = verdict.get("speedup", {}).items()
    return " ".join(f"{name} {one['ratio']:.2f}x [{one['low']:.2f}, {one['high']:.2f}]" for name, one in found)


def _unusual(genome: str) -> str:
    usual = str(TritonGenome()).split()
    return " ".join(gene for gene in genome.split() if gene not in usual)


def _ceiling(found: list[dict[str, Any]]) -> float:
    """What the memory gives, copying or reading; now and then a tenth less is measured, so the median."""
    measured = [max(one["plain"].values()) for one in found if "plain" in one]
    return statistics.median(measured) if measured else 0.0


def _share(found: dict[str, Any], ceiling: float) -> float:
    """Of what the memory gives, in the hundred."""
    return float(100 * found["bytes"] / 1e6 / found["ms"]["ours"] / ceiling)


def _summary(found: list[dict[str, Any]]) -> None:
    timed, ceiling = [one for one in found if "ms" in one], _ceiling(found)
    near = [one["problem"] for one in timed if _share(one, ceiling) >= 90]
    ahead = [one["problem"] for one in timed if one["ms"].get("compile", 0) > one["ms"]["ours"]]
    accepted = [one["problem"] for one in timed if one.get("verdict", {}).get("accepted")]
    print(f"{len(timed)} timed; within 10 % of {ceiling:.0f} GB/s {len(near)}: {sorted(near)}")
    print(f"ahead of torch.compile {len(ahead)}: {sorted(ahead)}; accepted by the judge {len(accepted)}")


if __name__ == "__main__":
    main()
