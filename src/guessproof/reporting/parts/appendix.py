"""The plan as it was written, the versions of the parts, and the same facts for machines."""

from __future__ import annotations

from importlib import metadata

from guessproof._version import __version__
from guessproof.reporting.facts import Facts, safe_source
from guessproof.reporting.markup import Markup, Piece, data_block, join, paragraph, table, tag
from guessproof.reporting.parts.prior import other_widths

PARTS = ("numpy", "scipy", "opendp", "duckdb", "sqlglot", "pydantic", "altair", "vl-convert-python")


def appendix(facts: Facts) -> Markup:
    """Everything that is needed to make this page again."""
    digest = facts.plan.digests
    public: Piece = None
    if digest:
        rows = [[name, tag("code", value, class_="hash")] for name, value in sorted(digest.items())]
        public = table("Public files that this plan rests on", ["file", "SHA-256"], rows)
    return join(
        [
            tag("h3", "The plan"),
            paragraph(
                "The file ",
                tag("code", facts.plan_name),
                " as it was written. The table it names, ",
                tag("code", safe_source(facts.plan.data.source)),
                ", was not opened for this report.",
            ),
            tag("pre", tag("code", facts.plan_text.rstrip("\n")), class_="plan", tabindex="0"),
            public,
            other_widths(facts),
            tag("h3", "Versions"),
            paragraph(" · ".join(f"{name} {version}" for name, version in _versions())),
            tag("h3", "For machines"),
            paragraph(
                "The choice, the recorded answers, the head of the ledger and the plan in one spelling stand in this "
                "page as JSON, in the element ",
                tag("code", "guessproof"),
                ".",
            ),
            data_block(facts.to_dict(), "guessproof"),
        ]
    )


def _versions() -> list[tuple[str, str]]:
    return [("guessproof", __version__), *((name, _version(name)) for name in PARTS)]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
