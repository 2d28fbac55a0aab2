// One question to this server: its upload watched, its job followed and ended, its refusal understood.
"use strict";

const requests = (() => {
  // No answer to show: `field` is the option at fault, `after` the seconds to wait.
  class Refused extends Error {
    constructor(detail, { status = 0, field = null, after = null } = {}) {
      super(detail);
      Object.assign(this, { status, field, after });
    }
  }

  const BROKEN = "The connection to the server broke. Is it running, and is the file still there?";
  const NO_KEY = "The key holds a character that no key has.";
  const PULSE = 1000;
  const MISSES = 5; // looks in a row that a job may go without an answer
  const stopped = () => new DOMException("stopped", "AbortError");
  const address = (path) => new URL(path, document.baseURI);

  async function refusal(status, retryAfter, body) {
    const after = Number.parseInt(retryAfter, 10);
    let said = {};
    try {
      said = JSON.parse(await body.text());
    } catch {
      // a proxy's page, say
    }
    const detail = typeof said.detail === "string" ? said.detail.replace(/(\w+)=NAME(,NAME)?/g, "“$1” below") : `The server answered with status ${status}.`;
    const field = typeof said.field === "string" ? said.field : null;
    return new Refused(detail, { status, field, after: Number.isFinite(after) ? after : null });
  }

  // Resolves to the request that has its answer.
  function send(path, body, headers, { signal, sent = () => {}, working = () => {} }) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      let uploaded = false;
      request.open("POST", address(path));
      request.responseType = "blob";
      try {
        for (const [name, value] of Object.entries(headers)) if (value) request.setRequestHeader(name, value);
      } catch {
        return reject(new Refused(NO_KEY, { field: "key" }));
      }
      request.upload.addEventListener("progress", (event) => sent(event.loaded, event.total));
      request.upload.addEventListener("load", () => {
        uploaded = true;
        if (!signal?.aborted) working();
      });
      request.addEventListener("load", async () => {
        if (request.status >= 200 && request.status < 300) resolve(request);
        else reject(await refusal(request.status, request.getResponseHeader("Retry-After"), request.response));
      });
      request.addEventListener("error", () => reject(new Refused(BROKEN)));
      request.addEventListener("abort", () => reject(stopped()));
      signal?.addEventListener("abort", () => uploaded || request.abort());
      if (signal?.aborted) reject(signal.reason);
      else request.send(body);
    });
  }

  // Resolves to a Blob. `watch.sent(loaded, total)` follows the upload, `watch.working()` its end.
  const post = async (path, body, headers, watch = {}) => (await send(path, body, headers, watch)).response;

  async function ask(path, body, headers, watch) {
    const request = await send(path, body, { ...headers, Prefer: "respond-async, wait=1" }, watch);
    if (request.status === 202) return follow(JSON.parse(await request.response.text()).id, headers, watch);
    if (watch.signal.aborted) throw stopped();
    return request.response;
  }

  // Look after a job until it has ended: its answer is fetched once.
  async function follow(id, { Authorization }, { signal, later, place }) {
    const job = address(`v1/jobs/${encodeURIComponent(id)}`);
    const headers = Authorization ? { Authorization } : {};
    const end = () => fetch(job, { method: "DELETE", headers, keepalive: true }).catch(() => {});
    addEventListener("pagehide", end);
    try {
      later();
      for (let misses = 0; ; await pause(PULSE, signal)) {
        const answer = await look(`${job}/result`, headers, signal);
        if (!answer && ++misses > MISSES) throw new Refused(BROKEN);
        if (!answer) continue;
        misses = 0;
        if (!answer.ok) throw await refusal(answer.status, answer.headers.get("Retry-After"), answer.body);
        if (answer.status !== 202) return answer.body;
        place(JSON.parse(await answer.body.text()).ahead);
      }
    } finally {
      removeEventListener("pagehide", end);
      await end();
    }
  }

  // What is at an address; null if the connection broke.
  async function look(place, headers, signal) {
    try {
      const answer = await fetch(place, { headers, signal });
      return { ok: answer.ok, status: answer.status, headers: answer.headers, body: await answer.blob() };
    } catch {
      if (signal.aborted) throw stopped();
      return null;
    }
  }

  const pause = (time, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) reject(stopped());
      const timer = setTimeout(resolve, time);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(stopped());
      });
    });

  return Object.freeze({ post, ask, Refused });
})();
