"""Formulas in the words of a goal: "weight / (height * height)", "12 * (rent + loan)", "sqrt(a ^ 2 + b ^ 2)".

::

    sum     = product { ("+" | "-") product }
    product = factor { ("*" | "/") factor }
    factor  = [ "-" ] atom [ ("^" | "**") number ]
    atom    = column | number | function "(" sum { "," sum } ")" | "(" sum ")"

Only plans whose goals are formulas enter this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from guessproof.errors import InputError
from guessproof.plan.grammar import KEYWORDS, Misread, Token, Tokens, difference_hint, read_tokens
from guessproof.world import FUNCTIONS, Attribute, Formula, applied, combined, formula_of

_LONGEST = 400  # tokens of one sum or product
_DEEPEST = 50


@dataclass(frozen=True)
class FormulaText:
    """A formula as it was written: a name or number, or parts under a sign or a function."""

    token: Token
    parts: tuple[FormulaText, ...] = ()
    sign: str = ""  # of the parts; empty for a function or a leaf

    @property
    def columns(self) -> tuple[Token, ...]:
        """The columns that it names, each once."""
        return tuple({leaf.text: leaf for leaf in self._leaves() if leaf.kind != "number"}.values())

    def _leaves(self) -> Iterator[Token]:
        if not self.parts:
            yield self.token
        for part in self.parts:
            yield from part._leaves()

    def build(self, attribute: Callable[[Token], Attribute]) -> Formula:
        """The formula on attributes."""
        if not self.parts:
            return formula_of(float(self.token.text) if self.token.kind == "number" else attribute(self.token))
        parts = [part.build(attribute) for part in self.parts]
        try:
            return combined(self.sign, *parts) if self.sign else applied(self.token.text.lower(), *parts)
        except InputError as error:
            raise Misread(self.token.start, self.token.end, error.problem, error.remedy) from None


def read_formula(text: str, attributes: Mapping[str, Attribute]) -> Formula:
    """A formula on its own, as it stands in `knows`.

    >>> from guessproof.world import normal
    >>> both = {name: Attribute(name, normal(0, 1)) for name in ("rent", "loan")}
    >>> read_formula("12 * (rent + loan) - 5", both)
    12 * (rent + loan) - 5
    """
    tokens = Tokens(read_tokens(text))
    found = read_sum(tokens)
    rest = tokens.now
    if rest.kind != "end":
        raise Misread(rest.start, rest.end, "is not expected in a formula", "write for instance: rent + loan")

    def attribute(column: Token) -> Attribute:
        if column.text not in attributes:
            remedy = difference_hint(column.text, attributes) or "name columns that have one"
            raise Misread(column.start, column.end, "is not a column with a prior", remedy)
        return attributes[column.text]

    return found.build(attribute)


def _check_depth(tokens: Tokens, depth: int) -> None:
    if depth > _DEEPEST:
        now, remedy = tokens.now, "use fewer parentheses and signs"
        raise Misread(now.start, now.end, "the formula is nested too deeply", remedy)


def _check_length(tokens: Tokens, first: int) -> None:
    if tokens.at - first > _LONGEST:
        now, remedy = tokens.now, "write fewer terms"
        raise Misread(now.start, now.end, "the formula is too long", remedy)


def read_sum(tokens: Tokens, depth: int = 0) -> FormulaText:
    """Sums and differences; a number with a sign of its own continues a sum."""
    _check_depth(tokens, depth)
    found, first = _product(tokens, depth), tokens.at
    while True:
        now = tokens.now
        _check_length(tokens, first)
        if now.kind in ("+", "-"):
            tokens.next()
            found = FormulaText(now, (found, _product(tokens, depth)), now.kind)
        elif now.kind == "number" and now.text[0] in "+-":
            found = FormulaText(now, (found, _signed_product(tokens, depth)), now.text[0])
        else:
            return found


def _signed_product(tokens: Tokens, depth: int) -> FormulaText:
    """What follows a − or + that stands at its first number."""
    token = tokens.now
    tokens.all[tokens.at] = Token("number", token.text[1:], token.start + 1, token.end)
    return _product(tokens, depth)


def _product(tokens: Tokens, depth: int) -> FormulaText:
    found, first = _factor(tokens, depth), tokens.at
    while tokens.now.kind in ("*", "/"):
        _check_length(tokens, first)
        sign = tokens.next()
        found = FormulaText(sign, (found, _factor(tokens, depth)), sign.kind)
    return found


def _factor(tokens: Tokens, depth: int) -> FormulaText:
    _check_depth(tokens, depth)
    if tokens.now.kind == "-":
        sign = tokens.next()
        minus = FormulaText(Token("number", "-1", sign.start, sign.end))
        return FormulaText(sign, (minus, _factor(tokens, depth + 1)), "*")
    found = _atom(tokens, depth)
    if tokens.now.kind in ("^", "**"):
        sign = tokens.next()
        power = tokens.next()
        if power.kind != "number":
            raise Misread(power.start, power.end, "a power is a fixed number", "write for instance: height ^ 2")
        found = FormulaText(sign, (found, FormulaText(power)), "^")
    return found


def _atom(tokens: Tokens, depth: int) -> FormulaText:
    token = tokens.next()
    if token.kind == "(":
        found = read_sum(tokens, depth + 1)
        _close(tokens)
        return found
    if token.kind == "word" and token.text.lower() in FUNCTIONS and tokens.now.kind == "(":
        tokens.next()
        parts = [read_sum(tokens, depth + 1)]
        while _comma(tokens):
            parts.append(read_sum(tokens, depth + 1))
        _close(tokens)
        return FormulaText(token, tuple(parts))
    if token.kind in ("number", "quoted") or (token.kind == "word" and token.text.lower() not in KEYWORDS):
        return FormulaText(token)
    problem = "a column or a number is missing here" if token.kind == "end" else "is no part of a formula"
    raise Misread(token.start, token.end, problem, "write for instance: weight / (height * height) within 1")


def _comma(tokens: Tokens) -> bool:
    """Read a comma if it comes next."""
    there = tokens.now.kind == ","
    if there:
        tokens.next()
    return there


def _close(tokens: Tokens) -> None:
    if tokens.now.kind != ")":
        raise Misread(tokens.now.start, tokens.now.end, "the parenthesis is not closed", "close it with )")
    tokens.next()
