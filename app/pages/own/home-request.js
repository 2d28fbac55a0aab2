// One request to this server: its upload watched, its refusal understood.
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

  async function refusal(request) {
    const status = request.status;
    const after = Number.parseInt(request.getResponseHeader("Retry-After"), 10);
    let said = {};
    try {
      said = JSON.parse(await request.response.text());
    } catch {
      // a proxy's page, say
    }
    const detail = typeof said.detail === "string" ? said.detail : `The server answered with status ${status}.`;
    const field = typeof said.field === "string" ? said.field : null;
    return new Refused(detail, { status, field, after: Number.isFinite(after) ? after : null });
  }

  // Resolves to a Blob. `watch.sent(loaded, total)` follows the upload, `watch.working()` says that it is there.
  function post(path, body, headers, { signal, sent = () => {}, working = () => {} } = {}) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("POST", new URL(path, document.baseURI));
      request.responseType = "blob";
      try {
        for (const [name, value] of Object.entries(headers)) if (value) request.setRequestHeader(name, value);
      } catch {
        return reject(new Refused("The key holds a character that no key has.", { field: "key" }));
      }
      request.upload.addEventListener("progress", (event) => sent(event.loaded, event.total));
      request.upload.addEventListener("load", working);
      request.addEventListener("load", async () => {
        if (request.status >= 200 && request.status < 300) resolve(request.response);
        else reject(await refusal(request));
      });
      request.addEventListener("error", () => reject(new Refused(BROKEN)));
      request.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
      signal?.addEventListener("abort", () => request.abort());
      if (signal?.aborted) reject(signal.reason);
      else request.send(body);
    });
  }

  return Object.freeze({ post, Refused });
})();
