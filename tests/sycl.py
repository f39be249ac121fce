"""Tests that compile SYCL run where its packages are installed, and say so where they are not."""

import pytest

from kernelwright import native


def _missing() -> str:
    try:
        native.sycl_packages()
    except native.ToolchainError as fault:
        return fault.headline
    return ""


needs_sycl = pytest.mark.skipif(bool(_missing()), reason=_missing() or "SYCL is installed")
