// The page: a source of scores, a question, and its report.
"use strict";

(() => {
  const { at } = form;
  const FORMS = { html: "text/html", md: "text/markdown", csv: "text/csv", png: "image/png", json: "application/json" };
  const base = new URL(".", document.baseURI).href;

  let source = null; // { file, name, type, coding, pasted }
  let running = null; // the AbortController of what is under way
  let reading = null; // that of the question after columns
  let done = null; // { asked, html, url, stem } of the report on show
  let wait = 0;

  const headers = (type, coding, accept) => {
    const key = at("key").value.trim();
    return { "Content-Type": type, "Content-Encoding": coding, Accept: accept, Authorization: key && `Bearer ${key}` };
  };

  // --- the source

  function unchoose() {
    reading?.abort();
    source = null;
    form.clear();
    form.forget();
    at("chosen").replaceChildren();
  }

  async function choose(file, { pasted = false, others = 0 } = {}) {
    unchoose();
    const mine = (reading = new AbortController());
    try {
      const found = { ...(await files.recognise(file)), pasted };
      if (mine.signal.aborted) return;
      introduce(found, others);
      const unfit = files.unfit(found);
      if (unfit) return form.complain("file", unfit);
      source = found;
      await columns(mine.signal);
    } catch (error) {
      if (mine.signal.aborted) return;
      if (error instanceof requests.Refused) refused(error, "file");
      else form.complain("file", "This cannot be read as a file.");
    } finally {
      tell();
    }
  }

  function introduce({ file, name: kind, coding }, others) {
    const name = document.createElement("bdi");
    name.textContent = files.shown(file.name);
    const told = [coding ? `${kind}, ${coding}` : kind, files.size(file.size)];
    if (kind === "JSON") told.push("posted to /v1/report as it is, as curl does below");
    if (others) told.push(`one file at a time: ${others} more left out`);
    at("chosen").replaceChildren(name, ...told.map((part) => ` · ${part}`));
  }

  async function columns(signal) {
    const head = await files.head(source);
    if (!head) return;
    const sent = headers(source.type, head.coding, FORMS.json);
    const answer = JSON.parse(await (await requests.post("v1/columns", head.body, sent, { signal })).text());
    const shape = source.name === "NPY" && !answer.columns.length ? await files.shape(head.body) : [];
    if (signal.aborted) return;
    if (shape.length === 1) form.split(shape[0]);
    else if (shape.length === 2) form.fill(numbered(shape[1]));
    else if (answer.columns.length) form.fill(answer);
  }

  // Columns are numbered; the last says who is a member.
  function numbered(wide) {
    const columns = Array.from({ length: wide }, (_, place) => ({ name: String(place), type: "number" }));
    const score = wide === 2 ? ["0"] : null;
    return { columns, score, no_score: "several could be it", member: String(wide - 1), group: null };
  }

  async function example() {
    try {
      const answer = await fetch(new URL("examples/scores.csv", base));
      if (!answer.ok) throw new Error();
      at("max_advantage").value ||= "0.1";
      await choose(new File([await answer.blob()], "scores.csv", { type: FORMS.csv }));
    } catch {
      form.complain("file", "The example could not be fetched: is the server running?");
    }
  }

  async function paste() {
    const [members, nonmembers] = [at("members").value, at("nonmembers").value];
    unchoose();
    tell();
    if (!members.trim()) return form.complain("members", "Paste scores here first.");
    for (const box of nonmembers.trim() ? ["members", "nonmembers"] : []) {
      const unclear = files.unclear(at(box).value);
      if (unclear) return form.complain(box, unclear);
    }
    await choose(files.pasted(members, nonmembers), { pasted: true });
  }

  // --- the question

  async function ask({ source: { file, type, coding }, options }, accept) {
    running?.abort();
    running = new AbortController();
    const query = new URLSearchParams(options).toString();
    progress.begin(file.size);
    try {
      const watch = { signal: running.signal, sent: progress.sent, working: progress.working };
      return await requests.post(`v1/report${query && `?${query}`}`, file, headers(type, coding, accept), watch);
    } finally {
      progress.end();
    }
  }

  // Ask, or say what is wrong where it is and give null.
  async function answered(asked, accept) {
    clearInterval(wait);
    form.clear();
    try {
      return await ask(asked, accept);
    } catch (error) {
      const called = error.name === "AbortError";
      progress.say(called ? "Cancelled." : "");
      if (called) at("compute").focus();
      else refused(error);
      return null;
    }
  }

  // `where` is the control to blame if the service names none.
  function refused(error, where = [400, 413, 415].includes(error.status) ? "file" : null) {
    if (error.status === 401) {
      at("locked").hidden = false;
      return form.complain("key", at("key").value ? "This is not the key." : "This service needs a key.");
    }
    if (error.after !== null) return later(error);
    const place = (field) => form.place(field, source?.pasted);
    const id = place(error.field) ?? place(error.status && where);
    return id ? form.complain(id, error.message) : general(error.message);
  }

  function general(text) {
    at("problem").textContent = text;
    at("problem").hidden = false;
    at("compute").focus();
  }

  // Busy: said once, and counted down where no screen reader listens.
  function later({ message, after }) {
    general(message);
    let left = after;
    const count = document.createElement("span");
    count.ariaLive = "off";
    const tick = () => {
      count.textContent = left > 0 ? ` Try again in ${left} s.` : " Try again now.";
      if (left-- <= 0) clearInterval(wait);
    };
    at("problem").append(count);
    tick();
    wait = setInterval(tick, 1000);
  }

  // --- the report

  async function report() {
    if (!source && at("members").value.trim()) await paste();
    else if (!source && at("file-problem").hidden) form.complain("file", "Choose a file, paste scores, or try the example.");
    if (!source) return;
    form.clear();
    if (!form.valid()) return;
    const asked = { source, options: form.options() };
    const html = await answered(asked, FORMS.html);
    if (html) show(asked, html);
  }

  function show(asked, html) {
    if (done) URL.revokeObjectURL(done.url);
    const stem = asked.source.file.name.replace(/(\.\w{1,8}){1,2}$/, "") || "scores";
    const url = URL.createObjectURL(new Blob([html], { type: "text/html;charset=utf-8" }));
    done = { asked, html, url, stem };
    const frame = document.createElement("iframe");
    frame.title = "Report";
    frame.sandbox = "allow-same-origin allow-modals"; // to be measured and printed; it runs no script
    frame.addEventListener("load", () => fit(frame));
    frame.src = url;
    at("shown").replaceChildren(frame);
    at("open").href = url;
    at("about").textContent = files.shown(asked.source.file.name);
    at("report").hidden = false;
    tell();
    progress.say("The report is ready.");
    at("report").focus();
  }

  // As tall as the report is, whatever is unfolded in it.
  function fit(frame) {
    const root = frame.contentDocument?.documentElement;
    if (!root) return;
    new ResizeObserver(() => {
      frame.style.height = `${Math.ceil(root.getBoundingClientRect().height)}px`;
    }).observe(root);
  }

  async function keep(ending) {
    const { asked, html, stem } = done;
    const found = ending === "html" ? html : await answered(asked, FORMS[ending]);
    if (!found) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(found);
    link.download = `${stem}-report.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    if (ending !== "html") progress.say(`Saved as ${link.download}.`);
  }

  // --- the same elsewhere

  // What the form asks as commands, and whether the report on show still answers it.
  function tell() {
    const asked = {
      address: base,
      file: source?.file.name ?? "scores.csv",
      type: source?.type ?? FORMS.csv,
      coding: source?.coding,
      options: form.options(),
      values: form.values(),
      key: !at("locked").hidden,
    };
    at("shell").textContent = commands.shell(asked);
    at("python").textContent = commands.python(asked);
    if (!done) return;
    const same = String(asked.options) === String(done.asked.options);
    const changed = same ? "" : "Options have changed since this report.";
    at("stale").textContent = source?.file === done.asked.source.file ? changed : "This report is about the earlier scores.";
  }

  async function copy(button) {
    const text = at(button.dataset.copies).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(at(button.dataset.copies)); // no clipboard without HTTPS: Ctrl+C does it
      button.textContent = "Selected";
    }
    setTimeout(() => button.replaceChildren("Copy"), 2000);
  }

  // --- what the reader does

  const click = (id, act) => at(id).addEventListener("click", act);
  at("file").addEventListener("change", () => {
    const [file] = at("file").files;
    if (file) choose(file);
  });
  click("example", example);
  click("paste", paste);
  click("cancel", () => running?.abort());
  click("print", () => at("shown").firstElementChild.contentWindow.print());
  at("form").addEventListener("submit", (event) => {
    event.preventDefault();
    report();
  });
  at("form").addEventListener("input", ({ target }) => {
    if (source?.pasted && target.localName === "textarea") unchoose();
    form.part();
    form.settle(target.name === "score" ? "score" : target.id);
    tell();
  });
  at("key").addEventListener("change", () => {
    if (source && at("columns").hidden) choose(source.file, source);
  });
  for (const button of document.querySelectorAll("[data-form]"))
    button.addEventListener("click", () => keep(button.dataset.form));
  for (const button of document.querySelectorAll("[data-copies]")) button.addEventListener("click", () => copy(button));

  for (const name of ["dragover", "dragleave", "drop"])
    addEventListener(name, (event) => {
      event.preventDefault();
      at("drop").classList.toggle("over", name === "dragover");
    });
  addEventListener("drop", ({ dataTransfer }) => {
    const [file, ...others] = dataTransfer.files;
    if (file) choose(file, { others: others.length });
  });
  tell();
})();
