"""The words of a goal, with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass

KEYWORDS = frozenset({"and", "or", "not", "within", "exactly", "among", "inside", "by"})
_PATTERN = re.compile(
    r"""(?P<space>\s+)
      | (?P<quoted>"(?:[^"]|"")*" | '(?:[^']|'')*')
      | (?P<number>[-+]?(?:[0-9]+(?:_[0-9]+)*\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?![\w.-]))
      | (?P<word>[^\W\d][\w.-]*|[0-9][\w.-]*)
      | (?P<sign>[(),%])""",
    re.VERBOSE,
)


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
