import subprocess
import sys

PROGRAM = """
from kernelwright import native
lib = native.cpp('extern "C" int seven(const float* x) { return 7; }')
{mute}
print(lib.seven({argument}))
"""


def said(mute: str, argument: str = "None") -> str:
    program = PROGRAM.replace("{mute}", mute).replace("{argument}", argument)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return run.stdout.strip() or run.stderr


def test_a_muted_function_does_not_run():
    assert said("") == "7"
    assert said("native.mute()") == "0"


def test_a_muted_function_still_checks_its_arguments():
    assert "pass a torch tensor" in said("native.mute()", "'text'")
