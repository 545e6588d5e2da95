"""The grammar of goals: from words to a tree of wishes.

::

    goal  = also { "or" also }
    also  = part { "and" part }
    part  = "not" part | "(" goal ")" | wish
    wish  = column "within" number [ "%" | unit ]
          | formula "within" number [ "%" ] | formula "inside" number number
          | formula ( "above" | "below" ) number
          | "(" column { "," column } ")" "within" number [ "by" norm ]
          | column "exactly"
          | column "among" value { "," value }
          | column "inside" end end { [ "," ] end end }
          | column ( "above" | "below" ) end
    end   = number | date
    unit  = "seconds" | "minutes" | "hours" | "days" | "weeks" | "years", of a column of times

Columns and values are bare words or stand in quotes. A formula has + - * / ^, numbers, parentheses and a few functions
(`plan.arithmetic`); a minus needs a space before it, because names may hold one. Nothing is executed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from guessproof.names import suggest_name
from guessproof.plan.places import LONGEST_GOAL
from guessproof.world import UNITS, is_norm

if TYPE_CHECKING:
    from guessproof.plan.arithmetic import FormulaText

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SIGNS = ("+", "-", "*", "/", "^", "**")
KEYWORDS = frozenset({"and", "or", "not", "within", "exactly", "among", "inside", "above", "below", "by"})
_PATTERN = re.compile(
    r"""(?P<space>\s+)
      | (?P<quoted>"(?:[^"]|"")*" | '(?:[^']|'')*')
      | (?P<number>[-+]?(?:[0-9]+(?:_[0-9]+)*\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?![\w.-]))
      | (?P<word>[^\W\d][\w.-]*|[0-9][\w.-]*)
      | (?P<sign>\*\*|[(),%*/^+-])""",
    re.VERBOSE,
)


def _is_end(token: Token) -> bool:
    """A number, or a date."""
    return token.kind == "number" or (token.kind in ("word", "quoted") and _DATE.match(token.text) is not None)


class Misread(Exception):
    """A place in a text that is not understood."""

    def __init__(self, start: int, end: int, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.start, self.end, self.problem, self.remedy = start, end, problem, remedy


@dataclass(frozen=True)
class Token:
    """A word, number, quoted text or sign of the text, and where it stands; the last one is the end."""

    kind: str
    text: str
    start: int
    end: int

    def is_word(self, word: str) -> bool:
        """Whether this is the keyword; quotes make a name of it."""
        return self.kind == "word" and self.text.lower() == word


def read_tokens(text: str) -> list[Token]:
    """Every word of a text.

    >>> [t.text for t in read_tokens("time within 5%")]
    ['time', 'within', '5', '%', '']
    """
    if len(text) > LONGEST_GOAL:
        raise Misread(
            0,
            0,
            f"is too long: it has more than {LONGEST_GOAL} characters",
            "name columns and values, and no more of them",
        )
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        found = _PATTERN.match(text, at)
        if found is None:
            if text[at] in "\"'":
                raise Misread(at, len(text), "the quotes are not closed", "close them")
            raise Misread(at, at + 1, "is not a sign of the goal language", "put such names and values in quotes")
        kind, word = str(found.lastgroup), found.group()
        if kind == "quoted":
            word = word[1:-1].replace(word[0] * 2, word[0])
        if kind != "space":
            tokens.append(Token(word if kind == "sign" else kind, word, at, found.end()))
        at = found.end()
    return [*tokens, Token("end", "", len(text), len(text))]


@dataclass
class Tokens:
    """The tokens of a text, read one after the other."""

    all: list[Token]
    at: int = 0

    @property
    def now(self) -> Token:
        """The token that is read next."""
        return self.all[self.at]

    @property
    def before(self) -> Token:
        """The token that was read last."""
        return self.all[max(0, self.at - 1)]

    def ahead(self, steps: int) -> Token:
        """A token further on."""
        return self.all[min(self.at + steps, len(self.all) - 1)]

    def next(self) -> Token:
        """Read a token; the end stays."""
        token = self.now
        self.at = min(self.at + 1, len(self.all) - 1)
        return token


VERBS = ("within", "exactly", "among", "inside", "above", "below")
SIDES = ("above", "below")  # of one number
_EXAMPLES = "write for instance: time within 2 | income within 5% | faculty exactly | faculty among math, cs"
_DEEPEST = 50


@dataclass(frozen=True)
class Wish:
    """One wish about one column, about several numbers together, or about a formula of them."""

    verb: str
    columns: tuple[Token, ...]
    values: tuple[Token, ...] = ()
    percent: bool = False
    by: Token | None = None
    unit: Token | None = None
    start: int = 0
    end: int = 0
    formula: FormulaText | None = None


@dataclass(frozen=True)
class Joined:
    """Goals joined by "and", "or", or one under "not"."""

    word: str
    parts: tuple[Any, ...]


Tree = Wish | Joined


def read_tree(text: str, column: str | None = None) -> Tree:
    """The tree of a goal's words; Misread where they are not understood. `column` is meant where none is named.

    >>> [c.text for c in next(walk_wishes(read_tree("within 5%", "time"))).columns]
    ['time']
    """
    return _Reader(Tokens(read_tokens(text)), column).whole()


def walk_wishes(tree: Tree) -> Iterator[Wish]:
    """The single wishes of a tree, from left to right."""
    if isinstance(tree, Wish):
        yield tree
    else:
        for part in tree.parts:
            yield from walk_wishes(part)


def read_names(text: str) -> tuple[str, ...]:
    """The columns of a list such as "(lon, lat)".

    >>> read_names("(lon, 'my lat')")
    ('lon', 'my lat')
    """
    reader = _Reader(Tokens(read_tokens(text)))
    names = reader.columns()
    rest = reader.tokens.now
    if rest.kind != "end":
        raise Misread(rest.start, rest.end, "is not expected here", 'write the columns as "(lon, lat)"')
    return tuple(name.text for name in names)


@dataclass
class _Reader:
    tokens: Tokens
    column: str | None = None  # what a wish is about that names none
    depth: int = 0

    def whole(self) -> Tree:
        """The goal, with nothing left over."""
        if self.tokens.now.kind == "end":
            raise Misread(0, 0, "the goal is empty", _EXAMPLES)
        tree = self._joined("or", lambda: self._joined("and", self._part))
        rest = self.tokens.now
        if rest.kind != "end":
            raise self._unexpected(rest)
        return tree

    def _joined(self, word: str, part: Callable[[], Tree]) -> Tree:
        parts = [part()]
        while self.tokens.now.is_word(word):
            self.tokens.next()
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _part(self) -> Tree:
        self.depth += 1
        now = self.tokens.now
        if self.depth > _DEEPEST:
            raise Misread(now.start, now.end, "the goal is nested too deeply", "write it with fewer parentheses")
        if now.is_word("not"):
            self.tokens.next()
            tree: Tree = Joined("not", (self._part(),))
        elif now.kind == "(" and not self._names_ahead():
            self.tokens.next()
            tree = self._joined("or", lambda: self._joined("and", self._part))
            self._expect(")", "the parenthesis is not closed", "close it with )")
        else:
            tree = self._wish()
        self.depth -= 1
        return tree

    def _names_ahead(self) -> bool:
        """Whether a parenthesis holds names of columns, (lon, lat), or a part of a formula, and not a goal."""
        first, second, third = self.tokens.ahead(1), self.tokens.ahead(2), self.tokens.ahead(3)
        alone = second.kind == ")" and any(third.is_word(verb) for verb in VERBS)
        named = first.kind in ("word", "quoted") and (second.kind == "," or alone)
        return named or (self._formula_ahead() and not self._goal_inside())

    def _goal_inside(self) -> bool:
        """Whether a keyword stands inside the parenthesis that comes next."""
        depth = 0
        for token in self.tokens.all[self.tokens.at :]:
            depth += (token.kind == "(") - (token.kind == ")")
            if token.kind == "word" and token.text.lower() in KEYWORDS:
                return True
            if depth == 0:
                break
        return False

    def _formula_ahead(self) -> bool:
        """Whether a sign of arithmetic stands before the verb that comes next."""
        at = self.tokens.at
        for token in self.tokens.all[at:]:
            if token.kind == "end" or (token.kind == "word" and token.text.lower() in KEYWORDS):
                return False
            signed = token.kind == "number" and token.text[0] in "+-" and token is not self.tokens.all[at]
            if token.kind in _SIGNS or signed:
                return True
            if token.kind == "word" and self._is_function(token):
                return True
        return False

    def _is_function(self, token: Token) -> bool:
        after = next((t for t in self.tokens.all if t.start >= token.end), token)
        return after.kind == "(" and token.text.lower() in ("sqrt", "log", "exp", "abs", "min", "max")

    def _formula_wish(self) -> Wish:
        """A formula of columns to within a number, or between two."""
        from guessproof.plan.arithmetic import read_sum  # only goals that are formulas need it

        start = self.tokens.now.start
        formula = read_sum(self.tokens)
        verb = self.tokens.next()
        name = verb.text.lower()
        if verb.kind != "word" or name not in ("within", "inside", *SIDES):
            remedy = "write within 2, inside 10 20 or above 10"
            raise Misread(verb.start, verb.end, "does not say what is wanted of the formula", remedy)
        if name != "within":
            ends = self._rest(name)
            return Wish(name, formula.columns, ends, start=start, end=self.tokens.before.end, formula=formula)
        values, percent, _, _ = self._radius(several=False)
        return Wish(name, formula.columns, values, percent, None, None, start, self.tokens.before.end, formula)

    def _wish(self) -> Wish:
        if self._formula_ahead():
            return self._formula_wish()
        start = self.tokens.now.start
        spoken = self.column is None or not any(self.tokens.now.is_word(verb) for verb in VERBS)
        columns = self.columns() if spoken else (Token("quoted", str(self.column), start, start),)
        verb = self.tokens.next()
        if not any(verb.is_word(v) for v in VERBS):
            name = columns[0].text
            more = f"“{name} among a, b”, “{name} inside 10 20” or “{name} above 10”"
            remedy = f"write “{name} within 2”, “{name} exactly”, {more}"
            hint = suggest_name(verb.text, VERBS, remedy)
            raise Misread(verb.start, verb.end, f"does not say what is wanted of {name}", hint)
        name = verb.text.lower()
        if len(columns) > 1 and name != "within":
            raise Misread(verb.start, verb.end, "several columns together have a distance only", "write within")
        if name == "within":
            values, percent, unit, by = self._radius(several=len(columns) > 1)
            return Wish(name, columns, values, percent, by, unit, start, self.tokens.before.end)
        return Wish(name, columns, self._rest(name), start=start, end=self.tokens.before.end)

    def _rest(self, verb: str) -> tuple[Token, ...]:
        if verb == "exactly":
            return ()
        if verb in SIDES:
            return (self._end(verb),)
        return self._values() if verb == "among" else self._ends()

    def _end(self, verb: str) -> Token:
        token = self.tokens.next()
        if not _is_end(token):
            raise Misread(token.start, token.end, f"{verb} what? give a number", f"write for instance: {verb} 10")
        return token

    def _radius(self, *, several: bool) -> tuple[tuple[Token, ...], bool, Token | None, Token | None]:
        radius = self._number("how near? give a number", "write for instance: within 2")
        percent = self.tokens.now.kind == "%"
        if percent:
            sign = self.tokens.next()
            if several:
                raise Misread(sign.start, sign.end, "a distance of several columns has no percentage", "give a number")
        timely = self.tokens.now.kind == "word" and self.tokens.now.text.lower().removesuffix("s") in UNITS
        unit = self.tokens.next() if timely else None
        by = None
        if self.tokens.now.is_word("by"):
            word = self.tokens.next()
            if not several:
                raise Misread(word.start, word.end, "one column needs no norm", "leave it out")
            by = self.tokens.next()
            if not is_norm(by.text.lower()):
                raise Misread(by.start, by.end, "is not a norm", "say l1, l2, linf, or l and a number as l3")
        return (radius,), percent, unit, by

    def columns(self) -> tuple[Token, ...]:
        """One column, or several in parentheses."""
        if not self._take("("):
            return (self._column(),)
        found = [self._column()]
        while self._take(","):
            found.append(self._column())
        self._expect(")", "the list of columns is not closed", "close it with )")
        return tuple(found)

    def _take(self, kind: str) -> bool:
        """Read a sign if it comes next."""
        there = self.tokens.now.kind == kind
        if there:
            self.tokens.next()
        return there

    def _column(self) -> Token:
        token = self.tokens.next()
        if token.kind == "quoted" or (token.kind == "word" and token.text.lower() not in KEYWORDS):
            return token
        problem = "a column is missing here" if token.kind == "end" else "is not the name of a column"
        raise Misread(token.start, token.end, problem, _EXAMPLES)

    def _values(self) -> tuple[Token, ...]:
        found = [self._value()]
        while self._take(","):
            found.append(self._value())
        return tuple(found)

    def _value(self) -> Token:
        token = self.tokens.next()
        if token.kind in ("quoted", "number") or (token.kind == "word" and token.text.lower() not in KEYWORDS):
            return token
        raise Misread(token.start, token.end, "a value is missing here", "write: among math, cs")

    def _ends(self) -> tuple[Token, ...]:
        found: list[Token] = []
        while _is_end(self.tokens.now) or (found and self.tokens.now.kind == ","):
            token = self.tokens.next()
            if token.kind != ",":
                found.append(token)
        if len(found) < 2 or len(found) % 2:
            now = self.tokens.now
            raise Misread(now.start, now.end, "an interval has two ends", "write: inside 10 20")
        return tuple(found)

    def _number(self, problem: str, remedy: str) -> Token:
        token = self.tokens.next()
        if token.kind != "number":
            raise Misread(token.start, token.end, problem, remedy)
        return token

    def _expect(self, kind: str, problem: str, remedy: str) -> None:
        token = self.tokens.now
        if token.kind != kind:
            raise Misread(token.start, token.end, problem, remedy)
        self.tokens.next()

    def _unexpected(self, token: Token) -> Misread:
        before = self.tokens.before
        if token.kind in ("word", "number") and before.kind == "word":
            whole = f"{before.text} {token.text}"
            hint = f"join goals with and, or; put a name of several words in quotes: '{whole}'"
            return Misread(token.start, token.end, "is one word too many", hint)
        return Misread(token.start, token.end, "is not expected here", "join goals with and, or, not")


def difference_hint(name: str, known: Container[str]) -> str | None:
    """What to write where a name that is not declared is a difference of names that are; None where it is not.

    >>> difference_hint("rent-loan", ["rent", "loan"])
    'names may hold a minus; for a difference put spaces around it: rent - loan'
    """
    parts = name.split("-")
    if len(parts) < 2 or not all(part in known for part in parts):
        return None
    return f"names may hold a minus; for a difference put spaces around it: {' - '.join(parts)}"
