"""A Ray cluster from the side of its nodes: how one is started, and what it takes to join it."""

from kernelwright.fleet._abilities import Abilities, abilities
from kernelwright.fleet._cluster import (
    LOOPBACK,
    PORT,
    Node,
    check_address,
    make_token,
    need_token,
    on,
    start_head,
    start_node,
)

__all__ = [
    "LOOPBACK",
    "PORT",
    "Abilities",
    "Node",
    "abilities",
    "check_address",
    "make_token",
    "need_token",
    "on",
    "start_head",
    "start_node",
]
