"""The JSON API: every door of the page. A refusal has the words of the command line."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field

from guessproof import __version__
from guessproof.plan.plan import LARGEST_PLAN
from guessproof.starting.helpers import ATTACKERS, PRESETS, believed
from guessproof.web.desks import is_desk
from guessproof.web.meanings import MOST_EPSILON
from guessproof.web.pictures import quick_rows
from guessproof.web.refusals import RefusalBody, WebError
from guessproof.web.releases import budget_of, confirm, make_offer, open_budget
from guessproof.web.shapes import shape_of, sketches
from guessproof.web.shop import Shop
from guessproof.web.sources import check_question, columns_of, connections
from guessproof.web.states import cleaned
from guessproof.web.workers import Progressed, WebJob
from guessproof.web.writing import written

REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": RefusalBody, "description": words}
    for code, words in {
        401: "the token was not shown",
        403: "sent by another page",
        409: "refused by the ledger, or stopped",
        413: "too much was sent",
        421: "another name than this server's",
        422: "a value that cannot be meant",
    }.items()
}
NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": RefusalBody, "description": "there is no such thing"}}
Json = dict[str, Any]
_BINARY = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
UPLOAD = {"requestBody": {"required": True, "content": _BINARY}}
DeskName = Annotated[str, Header(alias="X-Desk", description="a name that the tab made up: 8 to 64 letters or digits")]
Hidden = Annotated[str, Path(pattern=r"^[0-9a-f]{8,64}$", description="a name that was given before")]


class Asked(BaseModel):
    """A request about a state."""

    model_config = ConfigDict(extra="forbid")
    state: Json = Field(description="the tables of a plan as JSON; without data and query: a calculation")


class ShapeAsked(Asked):
    """A request for what is believed beforehand."""

    worst: Json | float | str | None = Field(
        default=None, description="the most exposed true value as an outcome says it, drawn where none is stated"
    )


class JobAsked(Asked):
    """A request for work that takes a while."""

    kind: Literal["outcome", "beliefs", "audit", "report", "factor", "meaning", "published"]
    trials: int = Field(default=20_000, ge=2000, le=1_000_000)
    seconds: float = Field(default=20.0, ge=1, le=120)
    epsilon: float = Field(default=1.0, gt=0, le=MOST_EPSILON, description="of a meaning")


class JobState(BaseModel):
    """How far some work is."""

    id: str
    kind: str
    state: Progressed
    share: float
    words: str
    result: Any = None
    error: Any = None


class LiveState(BaseModel):
    """A certified answer from the curve; `ready` is false until that is made, `coming` where none will be."""

    ready: bool
    coming: bool = True
    outcome: Json | None = None
    rows: Json | None = None


class ChartsState(BaseModel):
    """Drawings (Vega-Lite, without rows) and their rows by name."""

    ready: bool
    charts: Json = Field(default_factory=dict)


class WrittenState(BaseModel):
    """The state written down; a calculation that is not finished has its TOML only."""

    toml: str
    python: str | None
    command: str | None


class PlanText(BaseModel):
    """A plan file."""

    model_config = ConfigDict(extra="forbid")
    toml: str = Field(max_length=LARGEST_PLAN)


class StateBody(BaseModel):
    """A state, or none."""

    state: Json | None


class PriorWords(BaseModel):
    """A belief in words: half of people lie between 10 and 30."""

    model_config = ConfigDict(extra="forbid")
    words: str = Field(max_length=400)


class WrittenPrior(BaseModel):
    """A prior as a plan holds it."""

    prior: Json | str
    comment: str


class ShownToken(BaseModel):
    """What guessproof serve printed."""

    model_config = ConfigDict(extra="forbid")
    token: str = Field(max_length=200)


class SourceAsked(BaseModel):
    """Which table is to be opened."""

    model_config = ConfigDict(extra="forbid")
    source: str = Field(max_length=1000, description="a file of the folder, an upload, or env:NAME")
    table: str | None = Field(default=None, max_length=200)
    named: bool = Field(default=False, description="the first line of a text file holds names, says its owner")


class BudgetAsked(Asked):
    """A budget to be opened: once, for the data of that name."""

    name: str = Field(max_length=200)
    budget: str = Field(max_length=40, examples=["1.0"])


class OfferAsked(Asked):
    """A release that may be offered."""

    number: int | None = Field(default=None, ge=1)


class JobNamed(BaseModel):
    """Work that was done."""

    model_config = ConfigDict(extra="forbid")
    job: str = Field(max_length=64)


class Confirmed(Asked):
    """An offer that is accepted."""

    offer: str = Field(max_length=64)


def job_state(job: WebJob) -> JobState:
    """A job for the page; a curve stays on the server."""
    result = job.result if job.kind not in ("beliefs", "report") else None
    error = None if job.refusal is None else job.refusal.model_dump()
    return JobState(
        id=job.id,
        kind=job.kind,
        state=job.state,
        share=job.share,
        words=job.words,
        result=result,
        error=error,
    )


def make_api(shop: Shop) -> APIRouter:
    """Every door, on one shop."""
    api = APIRouter(prefix="/api", responses=REFUSALS)

    @api.get("/start")
    def start() -> Json:
        """What the page begins with: the plan it was started with, names of tables, presets."""
        presets = {
            p.name: {"advantage": p.advantage, "relative": p.relative, "absolute": p.absolute} for p in PRESETS.values()
        }
        attackers = {a.name: {"values": a.values, "records": a.records} for a in ATTACKERS.values()}
        return {
            "version": __version__,
            "folder": shop.folder.root.name,
            "state": shop.start,
            "tables": shop.folder.tables(),
            "presets": presets,
            "attackers": attackers,
        }

    @api.get("/tables")
    def tables() -> Json:
        """Names of the tables that can be opened, and of connections in the environment."""
        return {"tables": shop.folder.tables(), "connections": connections()}

    @api.post("/tables/columns")
    def columns(body: SourceAsked) -> Json:
        """Names and kinds of a table's columns; never a value."""
        return columns_of(shop.folder, body.source, body.table, body.named)

    @api.post("/uploads", status_code=201, openapi_extra=UPLOAD)
    async def upload(request: Request, name: Annotated[str, Header(alias="X-File-Name", max_length=800)]) -> Json:
        """Bring a table along (CSV or Parquet, as the body); it is deleted when the server ends."""
        return {"name": await shop.folder.keep(unquote(name), request.stream())}

    @api.post("/question")
    def question(body: Asked) -> Json:
        """Whether a question is accepted, and what it promises; else which part is refused."""
        return check_question(shop.folder, body.state)

    @api.post("/shape")
    def shape(body: ShapeAsked) -> Json:
        """What is believed beforehand, with the right guesses marked."""
        return shape_of(shop.folder, body.state, body.worst)

    @api.post("/sketch")
    def sketch(body: Asked) -> Json:
        """What the noise would do to an empty table, a few times over; nothing is opened or charged."""
        return sketches(shop.folder, body.state)

    @api.post("/budget")
    def budget(body: Asked) -> Json:
        """What is left of the budget, and what was spent on what."""
        return budget_of(shop, body.state)

    @api.post("/budget/open", status_code=201)
    def open_one(body: BudgetAsked) -> Json:
        """Set a budget, once."""
        return open_budget(shop, body.state, body.name, body.budget)

    @api.post("/release/offer")
    def offer(body: OfferAsked) -> Json:
        """What a release would cost; nothing is charged."""
        return make_offer(shop, body.state, body.number)

    @api.post("/release")
    def confirmed(body: Confirmed) -> Json:
        """Make the release that was offered: charge, run, record, show."""
        return confirm(shop, body.state, body.offer)

    @api.post("/report/keep", responses=NOT_FOUND)
    def keep_report(body: JobNamed) -> Json:
        """Where a report that was made can be looked at."""
        job = _found(shop.workers.find(body.job))
        if job.kind != "report" or job.state != "done":
            raise WebError(422, "this is no report that is ready", "write it first", "job")
        return {"address": f"/reports/{shop.desks.keep_report(job.result['html'])}", "released": job.result["released"]}

    @api.get("/state")
    def load(desk: DeskName) -> StateBody:
        """What this tab held before it was reloaded."""
        return StateBody(state=shop.desks.states.get(_desk(desk)))

    @api.put("/state", status_code=204)
    def save(body: Asked, desk: DeskName) -> None:
        """Keep a tab's state, in the memory of this server only."""
        cleaned(body.state)  # refused now rather than later
        shop.desks.states.put(_desk(desk), body.state)

    @api.post("/live")
    def live(body: Asked) -> LiveState:
        """A certified answer at once, from a curve that was made before: a job of the kind beliefs."""
        answer = shop.quick(body.state)
        if answer is None:
            return LiveState(ready=False, coming=shop.comes(body.state))
        return LiveState(ready=True, outcome=answer.outcome, rows=quick_rows(answer.outcome, answer.choice))

    @api.post("/charts")
    def charts(body: Asked) -> ChartsState:
        """The charts of a state, drawn once; later only their rows change."""
        answer = shop.quick(body.state)
        if answer is None:
            return ChartsState(ready=False)
        return ChartsState(ready=True, charts=shop.charts(answer))

    @api.post("/jobs", status_code=201)
    def begin(body: JobAsked) -> JobState:
        """Begin work that takes a while."""
        if body.kind == "beliefs":
            return job_state(shop.curve(body.state))
        options = {"trials": body.trials, "seconds": body.seconds, "epsilon": body.epsilon}
        return job_state(shop.workers.start(body.kind, cleaned(body.state), options))

    @api.get("/jobs/{job}", responses=NOT_FOUND)
    def look(job: Hidden, wait: Annotated[float, Query(ge=0, le=30)] = 0) -> JobState:
        """How far it is; `wait` seconds for its end at most."""
        found = _found(shop.workers.find(job))
        if wait:
            found.ended.wait(wait)
        return job_state(found)

    @api.delete("/jobs/{job}", responses=NOT_FOUND)
    def stop(job: Hidden) -> JobState:
        """Stop it."""
        found = _found(shop.workers.find(job))
        shop.workers.stop(found)
        found.ended.wait(5)
        return job_state(found)

    @api.post("/plan/write")
    def write(body: Asked) -> WrittenState:
        """The state as plan.toml, as Python, as a command."""
        return WrittenState(**written(cleaned(body.state), shop.folder))  # pyright: ignore[reportArgumentType]

    @api.post("/plan/read")
    def read(body: PlanText) -> StateBody:
        """The state that a plan file is."""
        from guessproof.web.opening import read_toml

        return StateBody(state=read_toml(body.toml))

    @api.post("/prior")
    def prior(body: PriorWords) -> WrittenPrior:
        """A prior from words: "half between 10 and 30", "no idea"."""
        import tomllib

        found = believed(body.words)
        return WrittenPrior(prior=tomllib.loads(f"prior = {found.toml}")["prior"], comment=found.comment)

    return api


def make_reports(shop: Shop) -> APIRouter:
    """Reports to look at; their addresses are random and tell nothing."""
    pages = APIRouter(responses=REFUSALS)

    @pages.get("/reports/{report}", response_class=HTMLResponse, responses=NOT_FOUND)
    def show(report: Hidden) -> HTMLResponse:
        """A report that was made before."""
        html = shop.desks.reports.get(report)
        if html is None:
            raise WebError(404, "there is no such report", "write it again")
        return HTMLResponse(html)

    return pages


def _desk(name: str) -> str:
    if not is_desk(name):
        raise WebError(422, "this is no name of a tab", "use 8 to 64 letters, digits, - or _", "X-Desk")
    return name


def _found(job: WebJob | None) -> WebJob:
    if job is None:
        raise WebError(404, "there is no such job", "start it again")
    return job
