"""The page in headless Chromium: from an input event to the last paint, first view, memory, several clients.

Run with: python benchmarks/page.py. A slider is moved 60 times a second, and no timer drops an event: the time is taken
from each event to the frame in which the charts have been redrawn with the answer to it, or to a later one. A busy
machine lengthens every wait, so what the page's thread computes for an event is counted as well: that does not wait.
ROUNDS sets how many times 400 drags the memory is watched (25: 10,000 drags).
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import CDPSession, Page, sync_playwright  # noqa: E402
from web.running import CAFETERIA, CALCULATION, Served, serving  # noqa: E402

TABLE = ROOT / "src/guessproof/cli/story/cafeteria.csv"
ARGUMENTS = ("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--no-sandbox")
EVENTS = 300
CLIENTS = 8

DRAG = """
async ([events, rate]) => {
  const slider = document.getElementById("advantage-slider");
  const painted = [];
  let sent = [], done = 0;
  const times = [];
  const watch = new MutationObserver(() => {
    const upto = Number(document.body.dataset.answered || 0);
    requestAnimationFrame(() => {
      const now = performance.now();
      while (done < sent.length && sent[done].turn <= upto) { times.push(now - sent[done].at); done += 1; }
    });
  });
  watch.observe(document.body, { attributes: true, attributeFilter: ["data-answered"] });
  const start = performance.now();
  for (let i = 0; i < events; i += 1) {
    const due = start + (1000 * i) / rate;
    while (performance.now() < due) await new Promise((go) => setTimeout(go, Math.max(0, due - performance.now())));
    slider.value = String(300 + Math.round(200 * Math.sin(i / 17)));
    if (slider.value === slider.dataset.last) slider.value = String(Number(slider.value) + 1);
    slider.dataset.last = slider.value;
    const at = performance.now();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    sent.push({ at, turn: Number(document.body.dataset.asked || 0) });
  }
  const end = performance.now() + 20000;
  while (done < sent.length && performance.now() < end) await new Promise((go) => setTimeout(go, 20));
  watch.disconnect();
  return { times, sent: sent.length };
}
"""


def quantile(values: list[float], share: float) -> float:
    """The value below which so many lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def opened(page: Page, address: str, state: Any) -> dict[str, float]:
    """How long the first view takes: until the page can be used, until it is exact, until the charts stand."""
    started = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("body[data-ready]", timeout=60_000)
    ready = time.perf_counter() - started
    page.evaluate("state => import('/static/js/store.js').then((store) => store.replace(state))", state)
    page.wait_for_timeout(250)
    page.wait_for_selector("#certainty.exact", timeout=120_000)
    exact = time.perf_counter() - started
    page.wait_for_selector("body[data-charts]", timeout=120_000)
    return {"first view": ready, "exact": exact, "charts": time.perf_counter() - started}


def computed(session: CDPSession) -> float:
    """Milliseconds that the page's thread has computed so far."""
    told = session.send("Performance.getMetrics")["metrics"]
    return 1000 * next(one["value"] for one in told if one["name"] == "TaskDuration")


def drags(page: Page, events: int = EVENTS) -> dict[str, float]:
    """A drag at 60 events a second."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = computed(session)
    found = page.evaluate(DRAG, [events, 60])
    busy = computed(session) - before
    times = found["times"]
    started = time.perf_counter()
    page.wait_for_selector("#certainty.exact", timeout=120_000)
    return {
        "events": found["sent"],
        "answered": len(times),
        "computed ms an event": busy / events,
        "median ms": quantile(times, 0.5),
        "p95 ms": quantile(times, 0.95),
        "exact after s": time.perf_counter() - started,
    }


def memory(page: Page, rounds: int) -> dict[str, Any]:
    """Megabytes of the page's heap after rounds of drags, swept before each look, and of the server."""
    session = page.context.new_cdp_session(page)
    heap: list[float] = []
    server = [resident()]
    for _ in range(rounds):
        page.evaluate(DRAG, [400, 200])
        session.send("HeapProfiler.collectGarbage")
        heap.append(round(session.send("Runtime.getHeapUsage")["usedSize"] / 2**20, 2))
        server.append(resident())
    return {"drags": 400 * rounds, "heap MB": heap, "server MB": [server[0], server[-1]]}


def resident() -> float:
    """Megabytes of this process, which is the server."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


def clients(served: Served, count: int, seconds: float) -> dict[str, float]:
    """Quick answers for several clients at once, as fast as each can ask."""
    times: list[float] = []
    end = time.perf_counter() + seconds

    def ask(number: int) -> None:
        state = copy.deepcopy(CALCULATION)
        turn = 0
        while time.perf_counter() < end:
            turn += 1
            state["attacker"]["advantage"] = 0.01 + 0.0001 * ((37 * turn + number) % 900)
            started = time.perf_counter()
            assert served.ask("POST", "/api/live", {"state": state})[1]["ready"]
            times.append(1000 * (time.perf_counter() - started))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {
        "answers a second": len(times) / seconds,
        "median ms": quantile(times, 0.5),
        "p95 ms": quantile(times, 0.95),
    }


def main() -> None:
    """Everything, as JSON."""
    found: dict[str, Any] = {"load": os.getloadavg()[0], "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        shutil.copy(TABLE, Path(folder) / "cafeteria.csv")
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=list(ARGUMENTS))
        with serving(Path(folder)) as served:
            for name, state in (("calculator", CALCULATION), ("plan", CAFETERIA)):
                page = browser.new_page()
                found[name] = {**opened(page, served.address, state), **drags(page)}
                if name == "calculator":
                    found["memory"] = memory(page, int(os.environ.get("ROUNDS", "25")))
                page.close()
            found[f"{CLIENTS} clients"] = clients(served, CLIENTS, 5.0)
        browser.close()
    print(json.dumps(found, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
