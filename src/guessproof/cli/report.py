"""`guessproof report`. Heavy rooms are imported inside the command."""

from __future__ import annotations

from typing import Annotated

import typer

from guessproof.cli.printing import command, print_json, say


def report(
    plan: Annotated[str, typer.Argument(help="The plan file, as plan.toml.", metavar="PLAN")],
    output: Annotated[str, typer.Option("--output", "-o", help="Where the page is written.")] = "report.html",
    registry: Annotated[
        str | None,
        typer.Option(
            "--registry", help="Also write the release as an entry of the public registry of deployments: .yaml"
        ),
    ] = None,
    ledger: Annotated[str | None, typer.Option("--ledger", help="Another ledger than the plan's.")] = None,
    key_file: Annotated[
        str | None,
        typer.Option("--key-file", help="A file with the key of a sealed ledger; else $GUESSPROOF_LEDGER_KEY."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """One page that defends the release: decision, odds, charts, proofs. From plan and ledger; never opens the table.

    The page needs no network and prints well. A plan that is not feasible gets a page too, which says why.

    Example: guessproof report plan.toml -o report.html
    """
    import hashlib

    from guessproof.choosing.reasons import take_what_is_left
    from guessproof.cli.screen import Screen
    from guessproof.ledger import read_key
    from guessproof.outputs import check_output, write_output
    from guessproof.plan import load_plan
    from guessproof.plan.sources import inputs_of
    from guessproof.reporting import report as reported
    from guessproof.reporting.parts.opening import decision
    from guessproof.reporting.registry import registry_text

    loaded = load_plan(plan)
    entry = None
    if registry is not None:
        entry = check_output("registry", registry, (".yaml", ".yml"), inputs_of(loaded, key_file=key_file))
    with Screen(stderr=True).status("writing the report …"):
        made = reported(loaded, output, ledger=ledger, key=read_key(key_file), key_file=key_file)
    facts = made.facts
    if entry is not None:
        write_output(entry, registry_text(facts).encode(), field="registry")
    if as_json:
        written = {
            "report": output,
            "sha256": hashlib.sha256(made.html.encode()).hexdigest(),
            "released": len(facts.own),
            **made.to_dict(),
        }
        print_json(written)
        return
    say(f"Wrote {output}.")
    if entry is not None:
        say(f"Wrote {registry}: an entry of the registry of deployments; fill in what is left open in it.")
    say(decision(facts))
    if facts.head is not None:
        say(f"head {facts.head}")
    if facts.choice.waits_for_budget and not facts.own:
        say(f"Nothing is released yet. {take_what_is_left(facts.choice.shown_epsilon)}.")
    elif facts.choice.feasible and not facts.own:
        say(f"Nothing is released yet. Next: {command('release', plan)}")
    else:
        say(f"Next: open {output} in a browser; it prints well, too.")
