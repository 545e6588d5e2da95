"""The words of the page that have a fixed meaning."""

from __future__ import annotations

from guessproof.reporting.facts import Facts
from guessproof.reporting.markup import Markup, tag

ALWAYS = (
    (
        "Budget",
        "The ε that all releases of one data set may cost together. It is set once by the owner of the data; no plan "
        "can raise it.",
    ),
    ("Confidence", "The share of all draws of the noise for which a statement about the error holds."),
    (
        "ε (epsilon)",
        "How strongly the released numbers may depend on one record. At ε = 0 not at all; at ε no answer can become "
        "more than e^ε times as probable by a change of one record.",
    ),
    (
        "Ledger, head",
        "The record of all charges and answers. Each entry holds the digest of the one before; the last digest, the "
        "head, stands for all of them.",
    ),
    ("Noise, scale", "A random number that is added to the answer. The scale b says how large it usually is."),
    ("Release", "A noisy answer that is shown to somebody. It is charged before the table is asked."),
    (
        "Sampling error",
        "How far the answer would differ for another random sample of people. It has nothing to do with the noise.",
    ),
)
ATTACKER = (
    ("Advantage", "The attacker’s belief after the worst possible answer, minus the belief before."),
    (
        "Attack, bound",
        "The most that an attacker was shown to reach, and the most that none can exceed. Where they meet, the number "
        "is exact.",
    ),
    ("Belief", "The probability that an attacker gives to the guesses that count as correct."),
    ("Goal", "Which guesses count as correct: for instance all within 2 of the true value."),
    ("Prior, posterior", "The attacker’s belief before and after the release."),
)
PROFILE = (
    ("Inclusion p", "How probable the attacker holds it that the person is in the data."),
    ("Relative risk", "Posterior divided by prior: how many times as probable a disclosure becomes."),
    ("Risk profile", "The relative risk that the holder of the data accepts, for each pair of priors p and q."),
    (
        "Value q",
        "How probable the attacker holds it that the person has the value in question, given that the person is in "
        "the data.",
    ),
)
DELTA = (
    (
        "δ (delta)",
        "The small allowance by which a probability may exceed e^ε times the other. Gaussian noise needs one.",
    ),
)


def glossary(facts: Facts) -> Markup:
    """Terms that this page uses, in order."""
    terms = list(ALWAYS)
    terms += ATTACKER if facts.plan.attacker is not None else ()
    terms += PROFILE if facts.plan.risk is not None else ()
    terms += DELTA if facts.choice.delta else ()
    ordered = sorted(terms, key=lambda term: _key(term[0]))
    return tag("dl", *(tag("div", tag("dt", word), tag("dd", meaning)) for word, meaning in ordered), class_="glossary")


def _key(word: str) -> str:
    return word.replace("δ (delta)", "delta").replace("ε (epsilon)", "epsilon").casefold()
