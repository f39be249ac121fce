"""Nodes of a Ray cluster: how they are started, where they listen and what it takes to be let in.

Everything that must be known about Ray's own ways is in this file: its raylets listen on the loopback interface alone
if a node's address is 127.0.0.1, and on every interface if it is any other; it replaces 127.0.0.1 by the machine's
public address unless told not to. Imports Ray when it is needed and not before.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernelwright.fleet._abilities import Abilities
from kernelwright.fleet._error import FleetError
from kernelwright.fleet._job import judge_version
from kernelwright.fleet._seat import BEFORE, CHANGED

LOOPBACK = "127.0.0.1"
INSTALL = "pip install 'kernelwright[ray]'"
NAMESPACE = "kernelwright"
OBJECT_STORE_BYTES = 100 << 20
CONNECT_S = 5.0
PORT = 6399
VERSION = b"kernelwright-judge"
TOKEN, TOKEN_FILE, MODE = "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE"
# A node that was killed says nothing: it is asked every second, and given up after a few silences.
PATIENCE = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 3000,
    "health_check_failure_threshold": 3,
}
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_ENABLE_AUTO_CONNECT": "0",
}


def ray() -> Any:
    """The module. Raises FleetError where it is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise FleetError("a fleet on Ray needs Ray, which is not installed", INSTALL)
    os.environ.update({name: os.environ.get(name, value) for name, value in QUIET.items()})
    import ray as module

    logging.getLogger("ray").setLevel(logging.ERROR)
    return module


def _part(name: str) -> Any:
    """A part of Ray that is not meant for others."""
    return importlib.import_module(f"ray.{name}")


# *** who is let in ***


def token_file() -> Path:
    """Where Ray itself looks for it."""
    said = os.environ.get(TOKEN_FILE)
    return Path(said).expanduser() if said else Path.home() / ".ray" / "auth_token"


def need_token() -> None:
    """Nobody joins or is joined without one."""
    if not os.environ.get(TOKEN) and not token_file().is_file():
        fix = f"copy {token_file()} from the machine where `kernelwright worker head` runs, or set {TOKEN}"
        raise FleetError("no token for the cluster was given", fix)


def make_token() -> Path | None:
    """One that is there stays. The file it is in; None where the environment holds it."""
    if os.environ.get(TOKEN):
        return None
    file = token_file()
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
            opened.write(new_token())
    return file


def new_token() -> str:
    return secrets.token_hex(32)


# *** where it is ***


def check_address(address: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`. Raises FleetError where nobody listens there."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise FleetError(f"{address!r} is no address of a cluster", "say HOST:PORT, as `kernelwright worker head` does")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()
    except OSError as error:
        fix = "start the cluster there with `kernelwright worker head`, or correct the address"
        raise FleetError(f"nobody answers at {host}:{port}: {error.strerror or error}", fix) from error
    return socket.gethostbyname(host), int(port)


def facing(host: str) -> str:
    """This machine's address as that host sees it: loopback where it is this one, so that no other can reach us."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, 9))
        return str(probe.getsockname()[0])


# *** nodes ***


class Node:
    """Ray's processes of one node. They end with this process, however it ends."""

    def __init__(self, started: Any, folder: Path) -> None:
        self._started, self.folder = started, folder

    @property
    def address(self) -> str:
        return str(self._started.gcs_address)

    @property
    def raylet(self) -> int:
        """Its process."""
        return int(self._started.all_processes["raylet"][0].process.pid)

    def agree_on(self, version: str) -> None:
        """Whose judge it is that this cluster uses. Raises FleetError where it is another's."""
        words = self._started.get_gcs_client()
        if self._started.head:
            words.internal_kv_put(VERSION, version.encode(), True, VERSION)
            return
        theirs = words.internal_kv_get(VERSION, VERSION)
        if theirs is not None and theirs.decode() != version:
            raise not_ours(theirs.decode(), version)

    def alive(self) -> bool:
        return not self._started.dead_processes()

    def close(self) -> None:
        self._started.kill_all_processes(check_alive=False, allow_graceful=False, wait=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def start_head(listen: str = LOOPBACK, port: int = 0) -> Node:
    """A cluster with no node that judges."""
    how: dict[str, Any] = {"gcs_server_port": port} if port else {}
    return _start(head=True, listen=listen, _system_config=dict(PATIENCE), **how)


def start_node(address: str, offers: Abilities | None = None, *, listen: str = "") -> Node:
    """Joins a cluster: as a node that offers something, or as a guest who only asks."""
    host, port = check_address(address)
    place = listen or facing(host)
    told: dict[str, Any] = {"resources": offers.resources(), "labels": offers.labels()} if offers else {}
    if place == LOOPBACK:
        host = LOOPBACK
    return _start(head=False, listen=place, gcs_address=f"{host}:{port}", **told)


def _start(*, head: bool, listen: str, resources: Mapping[str, float] | None = None, **how: Any) -> Node:
    ray()
    os.environ[MODE] = "token"
    _part("_raylet").Config.initialize("")  # both were read when Ray was imported
    _part("_raylet").AuthenticationTokenLoader.instance().reset_cache()
    # Else it replaces the loopback address by a public one.
    _part("_private.ray_constants").ENABLE_RAY_CLUSTER = listen != LOOPBACK
    _part("_private.services").find_gcs_addresses.cache_clear()
    folder = Path(tempfile.mkdtemp(prefix="kw-ray-", dir="/tmp"))
    parameters = _part("_private.parameter").RayParams(
        node_ip_address=listen,
        num_cpus=0,
        num_gpus=0,
        resources=dict(resources or {}),
        object_store_memory=OBJECT_STORE_BYTES,
        min_worker_port=0,
        max_worker_port=0,
        node_manager_port=0,
        include_dashboard=False,
        include_log_monitor=False,
        temp_dir=str(folder),
        env_vars={BEFORE + name: os.environ[name] for name in CHANGED if os.environ.get(name)},
        **how,
    )
    parameters.dashboard_agent_listen_port = None
    try:
        if not head:
            _knock(how["gcs_address"])
        started = _part("_private.node").Node(parameters, head=head, shutdown_at_exit=True, spawn_reaper=True)
        node = Node(started, folder)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise _told(error) from error
    try:
        node.agree_on(judge_version())
    except BaseException:
        node.close()
        raise
    return node


def _knock(address: str) -> None:
    """Once: Ray itself tries for twenty seconds, and writes a line each time."""
    silence, kept = os.open(os.devnull, os.O_WRONLY), os.dup(2)
    try:
        os.dup2(silence, 2)
        _part("_raylet").GcsClient(address=address)
    finally:
        os.dup2(kept, 2)
        os.close(silence)
        os.close(kept)


def not_ours(theirs: str, ours: str) -> FleetError:
    fix = "install the same version of kernelwright on all nodes"
    return FleetError(f"the cluster judges with kernelwright {theirs}, and this is {ours}", fix)


def _told(error: BaseException) -> BaseException:
    """Ray's own words in one sentence, where they are known to be about what a user can mend."""
    text = str(error)
    if type(error).__name__ == "AuthenticationError" or "nauthenticated" in text:
        fix = f"copy {token_file()} from the machine where `kernelwright worker head` runs, or set {TOKEN}"
        return FleetError("the cluster does not accept this token", fix)
    if "ersion mismatch" in text:
        fix = "install the same versions of Python and Ray on all nodes"
        return FleetError(f"this node and the cluster differ: {' '.join(text.split())}", fix)
    if isinstance(error, (RuntimeError, ConnectionError, TimeoutError)):
        return FleetError(f"Ray does not start: {' '.join(text.split())[:300]}", "look at the address and the network")
    return error


def connect(node: Node) -> None:
    """This process as one that asks, through a node of its own: others may be lost."""
    module = ray()
    if module.is_initialized():
        raise FleetError("this process uses a Ray cluster already", "close the other fleet first")
    # Who was lost is told by the fleet, and standard output is ours.
    _part("_private.worker").print_to_stdstream = lambda *_, **__: None
    module.init(
        address=node.address,
        namespace=NAMESPACE,
        log_to_driver=False,
        configure_logging=True,
        logging_level=logging.ERROR,
        _temp_dir=str(node.folder),
    )


@contextmanager
def on(cores: Iterable[int]) -> Iterator[None]:
    """What is started meanwhile stays on these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
