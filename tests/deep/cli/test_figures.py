"""Figures of the papers, drawn by their command."""

from __future__ import annotations

import json
from pathlib import Path

from commands import run


def test_papers_draws_the_figures_of_the_works(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "figures"
    drawn = json.loads(run("papers", "--figures", str(folder), "--json").stdout)["figures"]
    names = {f"{work}-figure-{n}" for work, n in (("lp", "1"), ("lp", "2a"), ("lp", "2b"), ("mxk", "1"))}
    names |= {f"kr-figure-{n}" for n in (1, 2, 3)} | {"slides-plot"}
    assert {Path(name).name for name in drawn} == {f"{name}.{kind}" for name in names for kind in ("svg", "png")}
    assert {path.name for path in folder.iterdir()} == {Path(name).name for name in drawn}
    for path in folder.iterdir():
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG" if path.suffix == ".png" else b"<svg")
        assert len(content) > 2000
        assert b"NaN" not in content or path.suffix == ".png"
    table_3 = (folder / "kr-figure-2.svg").read_text(encoding="utf-8")
    assert all(f"ε = {epsilon}" in table_3 for epsilon in ("0.51", "1.30", "2.04"))
    table_4 = (folder / "kr-figure-3.svg").read_text(encoding="utf-8")
    assert all(f"ε = {epsilon}" in table_4 for epsilon in ("1.09", "1.21", "2.10"))
