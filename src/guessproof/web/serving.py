"""Starting the page: where it listens, who may ask, and the browser that opens."""

from __future__ import annotations

import ipaddress
import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guessproof.errors import MissingExtraError, ParameterError
from guessproof.web.opening import read_toml

PORT = 8733
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Wanted:
    """How the page is asked for."""

    plan: str | None = None
    port: int | None = None
    host: str = HOST
    opens: bool = True


def serve(wanted: Wanted, say: Callable[[str], None]) -> None:
    """Serve until it is stopped."""
    check_parts()
    import uvicorn

    from guessproof.web.app import make_app
    from guessproof.web.safety import Guard
    from guessproof.web.shop import Shop

    root, state = _begin(wanted.plan)
    token = None if is_loopback(wanted.host) else os.urandom(18).hex()
    listener = listen(wanted.host, wanted.port)
    port = listener.getsockname()[1]
    shop = Shop.opened(root, state)
    shop.workers.warm()
    guard = Guard.for_address(wanted.host, port, token, (socket.gethostname().lower(),) if token else ())
    settings = uvicorn.Config(
        make_app(shop, guard),
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,  # a page that waits for an answer does not keep the server up
    )
    address = f"http://{_shown(wanted.host)}:{port}/"
    say(f"The page is at {address} (stop with Ctrl+C). It works in {root}.")
    if token is not None:
        say(f"It can be reached from other machines, without encryption. Its token: {token}")
    if wanted.opens:
        threading.Timer(0.4, webbrowser.open, (address,)).start()
    try:
        uvicorn.Server(settings).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        shop.close()


def check_parts() -> None:
    """Say how to install what is missing."""
    try:
        import fastapi
        import uvicorn
    except ImportError as error:
        raise MissingExtraError(error.name or "fastapi", "web") from None
    _ = fastapi, uvicorn


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _begin(plan: str | None) -> tuple[Path, Any]:
    """The folder, and the state of the plan that was named."""
    if plan is None:
        return Path.cwd(), None
    from guessproof.plan import load_plan

    path = Path(plan)
    load_plan(path)  # refused here, with its line, rather than on the page
    return path.absolute().parent, read_toml(path.read_text("utf-8-sig"))


def listen(host: str, port: int | None) -> socket.socket:
    """A socket on the port that was asked for; else the usual one, or any that is free.

    It must say that it speaks TCP: asyncio sends small pieces at once only where that is said. Otherwise the body of an
    answer waits until its head has been acknowledged, 40 ms later.
    """
    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    for number in (PORT, 0) if port is None else (port,):
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((bare, number))
            listener.listen(64)  # who comes before the server is up waits
        except (OSError, OverflowError):
            listener.close()
            continue
        return listener
    where = "host" if port in (None, 0) else "port"
    value = host if where == "host" else port
    raise ParameterError(where, value, "cannot be listened on", "choose another one, or leave it out")


def _shown(host: str) -> str:
    bare = host.strip("[]")
    if bare in ("0.0.0.0", "::"):  # noqa: S104 - shown, not bound
        return socket.gethostname()
    return f"[{bare}]" if ":" in bare else bare
