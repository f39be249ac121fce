"""The head of a model file, and what is said where it is none or the package for it is missing."""

import struct
import sys
from pathlib import Path

import pytest

from kernelwright.propose import Ensemble, ProposerError, prompt_limit, proposer
from kernelwright.propose._gguf import context_of

ARRAY, STRING, NUMBER = 9, 8, 4


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def pair(name: str, kind: int, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + value


def words(*values: str) -> bytes:
    return struct.pack("<IQ", STRING, len(values)) + b"".join(map(text, values))


def numbers(*values: int) -> bytes:
    return struct.pack(f"<IQ{len(values)}I", NUMBER, len(values), *values)


ARCHITECTURE = pair("general.architecture", STRING, text("llama"))
LONG = pair("llama.context_length", NUMBER, struct.pack("<I", 8192))


def head(*pairs: bytes, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(pairs)) + b"".join(pairs)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "model.gguf"


def test_what_a_model_can_read_stands_in_its_file(file):
    lists = (pair("tokenizer.tokens", ARRAY, words("a", "bc")), pair("tokenizer.types", ARRAY, numbers(1, 2, 3)))
    file.write_bytes(head(ARCHITECTURE, *lists, LONG))
    assert context_of(file) == 8192


def test_a_file_need_not_say_how_much_it_can_read(file):
    file.write_bytes(head(ARCHITECTURE))
    assert context_of(file) is None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "not a GGUF file"),
        (b"PK\x03\x04", "not a GGUF file"),
        (head(version=1), "has version 1"),
        (head(ARCHITECTURE, LONG)[:-2], "head of this GGUF file is broken"),
        (head(pair("odd", 77, b"")), "head of this GGUF file is broken"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60), "head of this GGUF file is broken"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**60), "head of this GGUF file is broken"),
    ],
)
def test_a_file_that_is_no_model_is_said_before_anything_is_loaded(file, content, sentence):
    file.write_bytes(content)
    with pytest.raises(ProposerError, match=sentence):
        proposer(f"local/{file}")


def test_a_folder_in_place_of_a_file_is_said(tmp_path):
    with pytest.raises(ProposerError, match="cannot be read: Is a directory"):
        proposer(f"local/{tmp_path}")


def test_a_missing_package_is_said_with_the_command_that_brings_it(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    file.write_bytes(head(LONG))
    with pytest.raises(ProposerError, match="needs the package xllamacpp") as caught:
        proposer(f"local/{file}")
    assert caught.value.fix == "pip install 'kernelwright[local]'"


class Reads:
    """Someone who can read so much."""

    def __init__(self, tokens: int | None) -> None:
        self.prompt_tokens = tokens


def test_prompts_for_several_are_written_for_who_can_read_least():
    assert prompt_limit(Ensemble([(Reads(900), 1), (Reads(None), 1), (Reads(300), 1)])) == 300
    assert prompt_limit(Ensemble([(Reads(None), 1), (object(), 1)])) is None
