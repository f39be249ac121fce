import subprocess
import sys

PROGRAM = """
from kernelwright import native
lib = native.cpp('extern "C" int seven() { return 7; }')
{mute}
print(lib.seven())
"""


def said(mute: str) -> str:
    program = PROGRAM.replace("{mute}", mute)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def test_a_muted_function_does_not_run():
    assert said("") == "7"
    assert said("native.mute()") == "0"
