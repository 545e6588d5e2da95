"""The trade-off picture says what the words say, and a ledger tells more than one of its releases."""

from __future__ import annotations

import guessproof as gp
from guessproof.charts.tradeoff import LEAST, MARKED, tradeoff_curves


def test_each_curve_holds_the_rates_of_its_words() -> None:
    one, more = gp.other_words([gp.Laplace(1, 0.5)]), gp.other_words([gp.Laplace(1, 0.5), gp.Gaussian(1, 1, 1e-6)])
    spec = tradeoff_curves({"one": one, "more": more}).to_dict()
    rows = spec["layer"][2]["data"]["values"]
    for name, words in (("one", one), ("more", more)):
        own = [row for row in rows if row["of"] == name]
        assert own[0]["fpr"] == LEAST
        assert all(row["tpr"] == words.tpr(row["fpr"]) for row in own)
        assert all(row["fpr"] <= row["tpr"] <= 1 for row in own)
    pairs = zip(rows[: len(rows) // 2], rows[len(rows) // 2 :], strict=True)
    assert all(less["tpr"] <= larger["tpr"] + 1e-12 for less, larger in pairs)
    marks = spec["layer"][-1]["data"]["values"]
    assert [mark["fpr"] for mark in marks] == list(MARKED)
    assert [mark["tpr"] for mark in marks] == [one.tpr(a) for a in MARKED]
