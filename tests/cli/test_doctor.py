"""`kernelwright doctor`: what works here, and the command that would make the next thing work."""


def test_doctor_names_machine_backends_and_isolation(invoke):
    result = invoke("doctor")
    assert result.exit_code == 0, result.output
    for word in ("cpu", "memory", "disk", "torch", "cpp", "python", "Isolation", "namespaces", "filter"):
        assert word in result.output
    assert "kernelwright demo" in result.output


def test_doctor_without_a_compiler_fails_and_says_how_to_get_one(invoke, monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CXX", "/nonexistent")
    result = invoke("doctor")
    assert result.exit_code == 2
    assert "/nonexistent" in result.output
    assert "fix: unset KERNELWRIGHT_CXX" in result.output
    assert "does not work yet" in result.output


def test_a_backend_that_does_not_work_here_is_refused(eight, cannot_judge, monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CXX", "/nonexistent")
    cannot_judge("eval", *eight, "--backend", "cpp", names=["cpp", "/nonexistent"], fix="KERNELWRIGHT_CXX")
