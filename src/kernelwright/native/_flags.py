"""Which compiler flags a candidate may add: those that shape its code, none that names a file or program."""

import re

from kernelwright.native._errors import CompileError

ALLOWED = re.compile(
    r"""
      -O(?:[0-3sgz]|fast)?
    | -D[A-Za-z_]\w*(?:=.*)?
    | -std=(?:c|gnu)\+\+\w+
    | -W[\w+=-]*                    # no comma, hence no -Wl, -Wa, -Wp that speak to other programs
    | -m[\w-]+(?:=[\w+.,-]+)?
    | -f[a-z][\w-]*(?:=[\w,-]+)?
    """,
    re.VERBOSE | re.DOTALL,
)
# -f options that load code, start programs, or read and write files other than the kernel.
REFUSED = re.compile(
    r"""
    -f(?:no-)?(?: plugin | module | use-ld | dump | save | profile
      | auto-profile | branch-prob | opt-info | callgraph | stack-usage | test-coverage | coverage | sanitize
      | instrument | offload | compare-debug | diagnostics | preprocessed | directives | pch | pass-plugin
      | syntax-only | embed | (?:file|macro|debug|profile|coverage)-prefix-map
      | (?:input|exec|wide-exec)-charset )
    """,
    re.VERBOSE,
)


def check_flags(flags: tuple[str, ...]) -> None:
    """Raise CompileError on the first flag a candidate may not pass."""
    for flag in flags:
        if not ALLOWED.fullmatch(flag) or REFUSED.match(flag):
            raise CompileError(
                f"compiler flag {flag!r} is not allowed; "
                "use -O, -f, -m, -D, -std= or -W flags that name no file and no program"
            )
