"""Who writes: models behind endpoints, a model file, a mailbox, scripts, stored replies; and how answers are read.

    model = proposer("openai/NAME", base_url="http://localhost:8000/v1")
    reply = model.propose(Request(id="1", prompt=text, kind="draft", backend="cpp"))
    answer = parse(reply.text, parent=None)

It knows prompts only where edits are concerned, and nothing of judging: what it returns is text that nobody has run.
"""

from kernelwright.propose._clock import Clock
from kernelwright.propose._endpoint import Settings
from kernelwright.propose._folders import Replay, Script
from kernelwright.propose._limited import Limited, Limits
from kernelwright.propose._mailbox import Mailbox
from kernelwright.propose._parse import Answer, parse
from kernelwright.propose._regions import parse_regions
from kernelwright.propose._request import (
    ExhaustedError,
    Kind,
    LooksAhead,
    Proposer,
    ProposerError,
    Reply,
    Request,
    TakesUp,
    prompt_limit,
)
from kernelwright.propose._spec import FORMS, Ensemble, asks_a_model, model_at_hand, proposer

__all__ = [
    "FORMS",
    "Answer",
    "Clock",
    "Ensemble",
    "ExhaustedError",
    "Kind",
    "Limited",
    "Limits",
    "LooksAhead",
    "Mailbox",
    "Proposer",
    "ProposerError",
    "Replay",
    "Reply",
    "Request",
    "Script",
    "Settings",
    "TakesUp",
    "asks_a_model",
    "model_at_hand",
    "parse",
    "parse_regions",
    "prompt_limit",
    "proposer",
]
