"""Other devices: what is right on the one that a search is about is judged on these too, and kept beside it.

The search learns nothing from them. Which idea wins where is read from the verdicts afterwards.
"""

from __future__ import annotations

from kernelwright.engine._docket import Docket
from kernelwright.engine._past import Past
from kernelwright.fleet import Fleet, Job, Kind, Result
from kernelwright.store import Judged

UNJUDGED = "unjudged elsewhere"


class Elsewhere:
    """The jobs of one run on its other devices. Its length is the number of those under way."""

    def __init__(self, fleet: Fleet, docket: Docket, past: Past, devices: tuple[str, ...]) -> None:
        self._fleet, self._docket, self._past, self._devices = fleet, docket, past, devices
        self._under_way: dict[str, Job] = {}

    def __len__(self) -> int:
        return len(self._under_way)

    def want(self, judged: Judged) -> None:
        """On all of them, once, if it was accepted."""
        if self._devices and judged.verdict["accepted"]:
            source = self._past.source(judged.candidate)
            for device in self._devices:
                job = self._docket.job(judged.candidate, source, device=device)
                if self._past.kept(job.candidate, job.name) is None and job.name not in self._under_way:
                    self._under_way[job.name] = job
                    self._fleet.submit(job)

    def take(self, result: Result) -> bool:
        """Whether this was one of them. A device that cannot judge it is no reason to end a search on another."""
        job = self._under_way.get(result.job)
        if job is None:
            return False
        if not result.kind.goes_on:
            del self._under_way[job.name]
            if result.kind is Kind.JUDGED:
                self._past.keep(result, device=job.device)
            else:
                self._past.note(UNJUDGED, {"candidate": job.candidate, "device": job.device, "why": result.reason})
        return True

    def recover(self, device: str | None) -> None:
        """What was accepted before the run was left."""
        for judged in list(self._past.verdicts()) if self._devices else []:
            if judged.device == device:
                self.want(judged)
