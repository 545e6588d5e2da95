"""Doors beside the way from data to report: questions that make a first plan, and what one ε means."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from guessproof.web.api import REFUSALS, Asked
from guessproof.web.asking import conversation
from guessproof.web.meanings import MOST_EPSILON, quick_meaning
from guessproof.web.shop import Shop

Json = dict[str, Any]


class Conversation(BaseModel):
    """What was answered so far, in the order of the questions."""

    model_config = ConfigDict(extra="forbid")
    answers: list[str] = Field(max_length=40, description="each as it was typed")
    source: str | None = Field(default=None, max_length=1000, description="the table that is open, if one is")
    table: str = Field(default="t", max_length=200)
    columns: list[str] = Field(default_factory=list[str], max_length=1000, description="its columns, if they are shown")


class NextQuestion(BaseModel):
    """The next question, or the state that the answers make; and the plan as far as it goes."""

    question: Json | None
    number: int
    toml: str
    state: Json | None


class MeaningAsked(Asked):
    """An ε that is to be put into words."""

    epsilon: float = Field(gt=0, le=MOST_EPSILON)


class MeaningState(BaseModel):
    """What it means, certified, from the curve; `ready` is false until that is made."""

    ready: bool
    meaning: Json | None = None


def make_side_doors(shop: Shop) -> APIRouter:
    """The doors, on one shop."""
    api = APIRouter(prefix="/api", responses=REFUSALS)

    @api.post("/ask")
    def ask(body: Conversation) -> NextQuestion:
        """One question at a time, as guessproof init --ask; no table is opened."""
        return NextQuestion(**conversation(shop.folder, body.answers, body.source, body.table, body.columns))

    @api.post("/meaning")
    def mean(body: MeaningAsked) -> MeaningState:
        """What an ε means for this attacker and question, and for any data."""
        found = quick_meaning(shop, body.state, body.epsilon)
        return MeaningState(ready=found is not None, meaning=found)

    return api
