// The doors of the server. A refusal is thrown with the words of the command line.

export class Refused extends Error {
  constructor(error, status) {
    super(error.message);
    this.error = error;
    this.status = status;
  }
}

// A name for this tab. The state itself stays on the server: nothing of it is kept in the browser.
const KEY = "guessproof-desk";
export const desk = sessionStorage.getItem(KEY) || crypto.getRandomValues(new Uint8Array(16)).reduce((text, b) => text + b.toString(16).padStart(2, "0"), "");
sessionStorage.setItem(KEY, desk);

export async function call(method, path, body, { headers = {}, raw = false } = {}) {
  const answer = await fetch(`/api${path}`, {
    method,
    headers: { "X-Guessproof": "1", "X-Desk": desk, ...(body !== undefined && !raw ? { "Content-Type": "application/json" } : {}), ...headers },
    body: body === undefined ? undefined : raw ? body : JSON.stringify(body),
  }).catch(() => { throw new Refused({ kind: "web", message: "the server does not answer; see whether guessproof serve is still running" }, 0); });
  if (answer.status === 204) return null;
  const found = await answer.json().catch(() => ({ error: { kind: "WebError", message: "the server gave no answer" } }));
  if (!answer.ok) throw new Refused(found.error, answer.status);
  return found;
}

export const post = (path, body, options) => call("POST", path, body, options);

// Long work: told how far it is, until it ends. `stop` ends it.
export function work(kind, state, { progress = null, trials, seconds, epsilon } = {}) {
  let id = null;
  let stopped = false;
  const done = (async () => {
    let job = await post("/jobs", { kind, state, trials, seconds, epsilon });
    id = job.id;
    if (stopped) await call("DELETE", `/jobs/${id}`);
    while (job.state === "waiting" || job.state === "running") {
      progress?.(job.share, job.words);
      job = await call("GET", `/jobs/${id}?wait=${progress ? 0.4 : 10}`);
    }
    if (job.state !== "done") throw new Refused(job.error, 409);
    return job.result;
  })();
  const stop = () => { stopped = true; if (id) call("DELETE", `/jobs/${id}`).catch(() => {}); };
  return { done, stop, id: () => id };
}
