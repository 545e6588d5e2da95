// The report: one page from plan and ledger, to look at or to keep.
import { post, Refused, work } from "../api.js";
import { at, el, fill, heading } from "../dom.js";
import * as store from "../store.js";

let said;

export function mount() {
  said = el("div", { id: "report-said", role: "status" });
  const write = el("button", { type: "button", id: "write-report", on: { click: run } }, "Write the report");
  fill(at("report"), heading("report-title", true, "Report"), el("div", { class: "stack" }, el("p", { class: "hint" }, "One page for a board: decision, odds, charts, proofs. From plan and ledger; the table is not opened."), el("div", {}, write), said));
  store.subscribe(() => { at("report").hidden = !store.hasData(); });
}

async function run() {
  fill(said, el("p", { class: "hint" }, "writing … this takes some seconds"));
  try {
    const job = work("report", store.get());
    await job.done;
    const { address } = await post("/report/keep", { job: job.id() });
    fill(said, el("p", { class: "row" }, el("a", { href: address, target: "_blank", rel: "noopener", id: "see-report" }, "Look at it"), el("a", { href: address, download: "report.html", id: "get-report" }, "Download")));
  } catch (error) { fill(said, el("p", { class: "error" }, error instanceof Refused ? error.error.message : "no answer")); }
}
