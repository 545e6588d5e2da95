"""python -m workload: asks every question, prints what becomes of it, and with --write keeps it in the docs."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from workload.judging import DRAWS, Verdict, analysed, measured
from workload.making import make_database
from workload.page import PAGE, page, write_record
from workload.questions import FAMILIES, read_family


def main() -> None:
    """All families, or those that are named."""
    asked = _arguments()
    verdicts: dict[str, Verdict] = {}
    with tempfile.TemporaryDirectory() as folder:
        for verdict in _judge(asked.families or FAMILIES, Path(folder), asked.draws):
            verdicts[verdict.title] = verdict
            if not asked.json:
                print(_line(verdict), flush=True)
    if asked.json:
        print(json.dumps([v.to_dict() for v in verdicts.values()], ensure_ascii=False, indent=1))
    if asked.write:
        write_record(verdicts)
        PAGE.write_text(page(verdicts, asked.draws), encoding="utf-8")


def _judge(families: tuple[str, ...], folder: Path, draws: int) -> Iterator[Verdict]:
    for name in families:
        source = make_database(folder / f"{name}.duckdb", name)
        for question in read_family(name).questions:
            yield measured(question, source, draws) if draws else analysed(question, source)


def _line(verdict: Verdict) -> str:
    if not verdict.accepted:
        return f"{verdict.title:36} refused   {verdict.reason}"
    error = "" if verdict.error is None else f"error {verdict.error:9.4f}   "
    return f"{verdict.title:36} accepted  {error}" + ", ".join(f"{text}: {b:.4g}" for text, b in verdict.scales)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workload", description=__doc__)
    parser.add_argument("families", nargs="*", choices=[[], *FAMILIES], help="which; left out: all")
    parser.add_argument("--draws", type=int, default=DRAWS, help="releases of each question; 0: only the noise")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--write", action="store_true", help="write docs/workload.md and what the tests compare with")
    asked = parser.parse_args()
    if asked.write and (asked.families or not asked.draws):
        parser.error("--write needs all families, with releases")
    return asked


if __name__ == "__main__":
    main()
