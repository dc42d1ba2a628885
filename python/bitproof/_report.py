"""The report of a check: conformance/report.schema.json as Python objects."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

_PASSES = ("bit_exact", "within_contract")


@dataclass(frozen=True)
class Counterexample:
    """The first wrong element of the first wrong block; bits are hexadecimal.

    Without inputs it is no element, but an access out of bounds beside right outputs: parts_at says where.
    """

    inputs: Tuple[str, ...]
    expected: str
    got: str
    kind: str
    ulp: int
    row: int
    column: int
    shape: Tuple[int, int]
    layout: str
    parts_at: str
    diagnosis: str  # of many wrong elements together: what computation has all of their bits
    raw: Dict[str, Any]

    def __str__(self) -> str:
        if not self.inputs:
            bits = f"expected {self.expected}, got {self.got} ({self.kind})"
            return f"{self.parts_at}: {bits} in a {list(self.shape)} tensor, {self.layout}"
        words = f"{', '.join(self.inputs)}: expected {self.expected}, got {self.got} ({self.kind}, {self.ulp} ULP)"
        words += f" at row {self.row}, column {self.column} of {list(self.shape)}, {self.layout}"
        return "; ".join(part for part in (words, self.parts_at, self.diagnosis) if part)


@dataclass(frozen=True)
class Record:
    """What a check found in one domain."""

    operator: str
    dtype: str
    implementation: str
    domain: str
    device: str
    profile: str  # whose bits are the truth
    tested: int
    total: int
    unit: str
    mismatches: int
    kinds: Dict[str, int]
    max_ulp: int
    digest: str
    expected_digest: str
    seconds: float
    verdict: str
    reason: str
    first: Optional[Counterexample]
    causes: Dict[str, int]  # mismatches by cause, where the check can tell
    models: Dict[str, Tuple[str, ...]]  # of linear_gelu_tanh: how the bits come about, with the shapes
    raw: Dict[str, Any]

    @property
    def passed(self) -> bool:
        return self.verdict in _PASSES

    def __str__(self) -> str:
        words = (
            f"{self.operator} {self.dtype} {self.implementation} {self.domain} on {self.device}: {self.verdict}, "
            f"{self.tested}/{self.total} {self.unit}, {self.mismatches} mismatches against {self.profile}"
        )
        if self.reason:
            words += f"\n  {self.reason}"
        if self.first is not None:
            words += f"\n  first: {self.first}"
        if self.mismatches:
            words += "\n  by kind: " + ", ".join(f"{kind} {count}" for kind, count in self.kinds.items() if count)
        for cause, count in self.causes.items():
            words += f"\n  because: {cause}: {count}"
        for model, shapes in self.models.items():
            words += f"\n  {model}: {len(shapes)} shape{'s' if len(shapes) > 1 else ''}, {shapes[0]} the first"
        return words


@dataclass(frozen=True)
class Report:
    """Everything that a check found: a record per domain."""

    verdict: str
    records: Tuple[Record, ...]
    text: str  # the report as JSON, as `bitproof show`, `gate` and `merge` read it

    @property
    def passed(self) -> bool:
        """Every record has a passing verdict, and there is one."""
        return bool(self.records) and all(record.passed for record in self.records)

    @property
    def first(self) -> Optional[Counterexample]:
        """The first counterexample of all records."""
        return next((record.first for record in self.records if record.first is not None), None)

    def save(self, path: Union[str, Path]) -> None:
        """Writes the report as JSON."""
        Path(path).write_text(self.text, encoding="utf-8")

    def __str__(self) -> str:
        return "\n".join(str(record) for record in self.records)


def _counterexample(raw: Optional[Dict[str, Any]]) -> Optional[Counterexample]:
    if raw is None:
        return None
    return Counterexample(
        inputs=tuple(raw["inputs"]),
        expected=raw["expected"],
        got=raw["got"],
        kind=raw["kind"],
        ulp=raw["ulp"],
        row=raw["row"],
        column=raw["column"],
        shape=(raw["rows"], raw["width"]),
        layout=raw["layout"],
        parts_at=raw["parts_at"],
        diagnosis=raw.get("diagnosis", ""),
        raw=raw,
    )


def _record(raw: Dict[str, Any]) -> Record:
    same = (
        "operator",
        "dtype",
        "implementation",
        "domain",
        "device",
        "profile",
        "tested",
        "total",
        "unit",
        "mismatches",
        "kinds",
        "max_ulp",
        "digest",
        "expected_digest",
        "seconds",
        "verdict",
    )
    return Record(
        **{name: raw[name] for name in same},
        reason=raw.get("reason", ""),
        first=_counterexample(raw.get("first")),
        causes={cause["cause"]: cause["count"] for cause in raw.get("causes", [])},
        models={each["description"]: tuple(each["shapes"]) for each in raw.get("algorithms", [])},
        raw=raw,
    )


def parse_report(verdict: str, text: str) -> Report:
    records: List[Record] = [_record(raw) for raw in json.loads(text)["records"]]
    return Report(verdict, tuple(records), text)
