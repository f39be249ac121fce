"""`python -m kernelwright` is the command `kernelwright`."""

from kernelwright.cli import main

main()
