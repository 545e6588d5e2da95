"""The application: doors, the page, and what stands before both."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic_core import PydanticSerializationError
from starlette.exceptions import HTTPException

from guessproof import __version__
from guessproof.errors import GuessproofError
from guessproof.plain import plain
from guessproof.web.api import ShownToken, make_api, make_reports
from guessproof.web.refusals import Refusal, RefusalBody, WebError, refusal_of, status_of, unexpected
from guessproof.web.safety import COOKIE, Guard, RequestGate
from guessproof.web.shop import Shop
from guessproof.web.side_doors import make_side_doors

STATIC = Path(str(files("guessproof.web").joinpath("static")))


def make_app(shop: Shop, guard: Guard, *, largest_upload: int | None = None) -> Any:
    """The application for one folder, guarded."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        yield
        shop.close()

    app = FastAPI(
        title="guessproof",
        version=__version__,
        description="Choose the ε of differential privacy from what people can judge.",
        docs_url=None,  # it would load from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    app.include_router(make_api(shop))
    app.include_router(make_side_doors(shop))
    app.include_router(make_reports(shop))
    _add_page(app, guard)
    _add_refusals(app)
    gate = RequestGate(app, guard)
    if largest_upload is not None:
        gate.largest_upload = largest_upload
    return gate


def _add_page(app: FastAPI, guard: Guard) -> None:
    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        """The page itself; it holds nothing of the data."""
        return FileResponse(STATIC / "index.html")

    @app.post("/api/login", status_code=204, responses={401: {"model": RefusalBody, "description": "another token"}})
    def login(body: ShownToken, response: Response) -> None:
        """Show the token once; a cookie that no script can read shows it from then on."""
        if guard.token is not None and not guard.matches(body.token):
            raise WebError(401, "this is not the token", "enter the one that guessproof serve printed", "token")
        if guard.token is not None:
            response.set_cookie(COOKIE, body.token, httponly=True, samesite="strict")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")


def _add_refusals(app: FastAPI) -> None:
    @app.exception_handler(GuessproofError)
    def refused(_: Request, error: GuessproofError) -> JSONResponse:
        return _answer(refusal_of(error), status_of(error))

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0] if error.errors() else {}
        where = ".".join(str(part) for part in first.get("loc", ())[1:]) or None
        problem = plain(first.get("msg", "the request is not understood"))
        refusal = Refusal(kind="request", message=f"{where or 'request'}: {problem}", field=where, problem=problem)
        return _answer(refusal, 422)

    @app.exception_handler(HTTPException)
    def missing(_: Request, error: HTTPException) -> JSONResponse:
        refusal = Refusal(kind="web", message=plain(error.detail), problem=plain(error.detail))
        status = 422 if error.status_code == 400 else error.status_code  # a body that cannot be parsed
        return _answer(refusal, status, dict(error.headers or {}))

    @app.exception_handler(UnicodeEncodeError)
    @app.exception_handler(PydanticSerializationError)
    def halved(_: Request, __: Exception) -> JSONResponse:
        """JSON can say half a character (a lone surrogate), which no answer can repeat."""
        problem, remedy = "a text holds half a character", "type it again"
        return _answer(Refusal(kind="request", message=f"{problem}; {remedy}", problem=problem, remedy=remedy), 422)

    @app.exception_handler(Exception)
    def broken(_: Request, __: Exception) -> JSONResponse:
        return _answer(unexpected(), 500)


def _answer(refusal: Refusal, status: int, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(RefusalBody(error=refusal).model_dump(), status, headers)
