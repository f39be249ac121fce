import subprocess
import sys

HEAVY = "{'torch', 'pydantic', 'numpy'} & set(sys.modules)"


def test_importing_the_room_loads_nothing_heavy():
    code = f"import sys, kernelwright.tasks; print({HEAVY})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_loading_a_python_file_loads_nothing_heavy_either(tmp_path):
    path = tmp_path / "t.py"
    path.write_text("class Model:\n def forward(self): ...\ndef get_inputs(): ...\ndef get_init_inputs(): ...\n")
    code = f"import sys; from kernelwright.tasks import load_task; load_task({str(path)!r}); print({HEAVY})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_everything_listed_can_be_had():
    import kernelwright.tasks as tasks

    assert all(hasattr(tasks, name) for name in tasks.__all__)
    assert not hasattr(tasks, "draw_inputs")
