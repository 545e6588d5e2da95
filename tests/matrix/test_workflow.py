"""Every ordinary table goes through the main workflow: init, check, choose, ledger, release, explain."""

from __future__ import annotations

import re

import pytest

from matrix.project import UNKNOWN_BIAS, Project


def test_every_command_is_done_and_can_be_read(project: Project) -> None:
    for words in (("check",), ("choose",), ("choose", "--full"), ("release",), ("explain",), ("ledger", "show")):
        assert project.read(*words)
    for words in (("check",), ("choose",), ("release",), ("explain",)):
        assert project.document(*words)
    head = project.document("release")["head"]
    assert project.document("ledger", "verify", "--head", head)["ok"] is True


def test_every_group_is_named_in_full(project: Project) -> None:
    shown = project.read("release")
    assert [key for key in project.table.says if key not in shown] == []
    assert "…" not in re.sub(r" … ", "", shown)


def test_every_command_names_the_same_epsilon(project: Project) -> None:
    choice, answer = project.document("choose"), project.document("release")
    epsilon, charged = choice["epsilon"], choice["epsilon_charged"]
    assert project.document("explain")["epsilon"] == epsilon
    assert answer["epsilon"] == charged
    assert answer["delta"] == choice["delta"]
    (standing,) = project.document("ledger", "show")["names"]
    assert float(standing["spent"]["epsilon"]) == pytest.approx(charged, rel=1e-12)
    shown = [re.search(rf"{before}ε = ([\d.]+)", project.read(*words)) for before, words in SHOWN]
    assert [None if found is None else float(found[1]) for found in shown] == [
        pytest.approx(epsilon, rel=1e-5),
        pytest.approx(epsilon, rel=1e-5),
        pytest.approx(epsilon, rel=1e-5),
        pytest.approx(charged, rel=1e-5),
    ]


SHOWN = (("", ("choose",)), ("", ("choose", "--full")), ("", ("explain",)), ("Charged ", ("release",)))


def test_an_unknown_bias_is_said_wherever_an_error_is(project: Project) -> None:
    for words in (("check",), ("choose",), ("choose", "--full"), ("release",)):
        said = UNKNOWN_BIAS in " ".join(project.read(*words).split())
        assert said is project.table.bias_unknown, words
    for command in ("check", "choose", "release"):
        assert (UNKNOWN_BIAS in str(project.document(command))) is project.table.bias_unknown, command
