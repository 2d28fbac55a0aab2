// The page: what somebody has, a question about it, and its report.
"use strict";

(() => {
  const { at } = form;
  const FORMS = { html: "text/html", md: "text/markdown", csv: "text/csv", png: "image/png", json: "application/json" };
  const FOREIGN = "Something between answered, not the service: a login?";
  const base = new URL(".", document.baseURI).href;

  let kind = kinds.scores;
  let running = null; // the AbortController of what is under way
  let done = null; // { asked, html, url, stem } of the report on show
  let wait = 0;

  const headers = () => {
    const key = at("key").value.trim();
    return { Authorization: key && `Bearer ${key}` };
  };
  const filled = () => slots.of(kind).filter(({ source }) => source);
  const [scores] = slots.of(kinds.scores);

  // --- what came

  function turn(name) {
    kind = kinds[name];
    form.turn(kind);
    columns();
    tell();
  }

  function unchoose(slot) {
    slots.clear(slot);
    columns();
    tell();
  }

  async function choose(slot, file, { pasted = false, notes = [] } = {}) {
    const before = known();
    if (slot.kind.raw) form.forget();
    const stayed = await slots.choose(slot, file, { pasted, notes, headers: headers(), refused });
    if (stayed && slot.kind.name === kind.home && (kind.raw || known() !== before)) columns();
    tell();
  }

  // The columns on offer are those of the first file that has any.
  const known = () => slots.of(kind).find(({ answer }) => answer?.columns.length || answer?.values)?.answer;

  function columns() {
    const answer = known();
    if (!answer) form.forget();
    else if (answer.values) form.split(answer.values);
    else form.fill(answer);
  }

  async function example() {
    const { file, part } = kind.example;
    const fill = { max_advantage: 0.1, ...kind.fill };
    const needed = slots.of(kind).filter(({ optional }) => !optional);
    try {
      const answer = await fetch(new URL(`examples/${file}`, base));
      if (!answer.ok) throw new Error();
      const of = part(await answer.text());
      for (const name in fill) if (kind.options.includes(name)) at(name).value ||= fill[name];
      const ending = file.slice(file.indexOf("."));
      const named = ({ name }) => new File([of(name)], kind.raw ? file : `${name}${ending}`);
      await Promise.all(needed.map((slot) => choose(slot, named(slot))));
    } catch {
      form.complain(needed[0].id, "The example could not be fetched: is the server running?");
    }
  }

  async function paste() {
    const [members, nonmembers] = [at("members").value, at("nonmembers").value];
    form.clear();
    unchoose(scores);
    if (!members.trim()) return form.complain("members", "Paste scores here first.");
    for (const box of nonmembers.trim() ? ["members", "nonmembers"] : []) {
      const unclear = files.unclear(at(box).value);
      if (unclear) return form.complain(box, unclear);
    }
    if (!nonmembers.trim() && !/[a-z]/i.test(members)) return form.complain("nonmembers", "Paste these, too.");
    await choose(scores, files.pasted(members, nonmembers), { pasted: true });
  }

  // --- the question

  function request({ kind: { raw, operation }, sent, options }, accept) {
    const start = { ...headers(), Accept: accept };
    if (raw) {
      const [{ file, type, coding }] = sent;
      const query = new URLSearchParams(options).toString();
      const path = `v1/${operation}${query && `?${query}`}`;
      return { path, body: file, size: file.size, headers: { ...start, "Content-Type": type, "Content-Encoding": coding } };
    }
    const body = new FormData();
    for (const { name, file } of sent) body.append(name, file, file.name);
    for (const [name, value] of options) body.append(name, String(value));
    const size = sent.reduce((sum, { file }) => sum + file.size, 0);
    return { path: `v1/${operation}`, body, size, headers: start };
  }

  async function ask(asked, accept) {
    running?.abort();
    running = new AbortController();
    const { path, body, size, headers: about } = request(asked, accept);
    progress.begin(size);
    try {
      const { sent, working, later, place } = progress;
      const found = await requests.ask(path, body, about, { signal: running.signal, sent, working, later, place });
      const report = accept !== FORMS.html || (await found.slice(0, 500).text()).includes("default-src 'none'");
      if (!report || !found.type.startsWith(accept)) throw new requests.Refused(FOREIGN);
      return found;
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
      const stopped = error.name === "AbortError";
      progress.say(stopped ? "Stopped. The service no longer works on it." : "", stopped);
      if (stopped) at("compute").focus();
      else refused(error);
      return null;
    }
  }

  // `where` is the control to blame if the service names none.
  function refused(error, where = kind.raw && [400, 413, 415].includes(error.status) ? "file" : null) {
    if (error.status === 401) {
      at("locked").hidden = false;
      return form.complain("key", at("key").value ? "This is not the key." : "This service needs a key.");
    }
    if (error.after !== null) return later(error);
    const place = (field, detail) => form.place(field, scores.source?.pasted, detail);
    const plain = !kind.raw && at(`${where}-problem`) ? where : place(error.status && where);
    const id = place(error.field, error.message) ?? plain;
    return id ? form.complain(id, error.message) : general(error.message);
  }

  function general(text) {
    Object.assign(at("problem"), { textContent: text, hidden: false });
    at("compute").focus();
  }

  // Counted down where no screen reader listens.
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

  // Whether every file is there; else the first that lacks is asked for.
  async function complete() {
    if (kind.raw && !scores.source && at("members").value.trim()) await paste();
    const lacking = slots.of(kind).find(({ source, optional }) => !source && !optional);
    if (!lacking) return true;
    const unsaid = [lacking.id, "members", "nonmembers"].every((id) => at(`${id}-problem`).hidden);
    const ways = kind.raw ? "Choose a file, paste scores, or try the example." : "Choose a file.";
    if (unsaid) form.complain(lacking.id, ways);
    return false;
  }

  async function report() {
    if (!(await complete())) return;
    form.clear();
    if (!form.valid()) return;
    const sent = filled().map(({ name, source }) => ({ ...source, name }));
    const asked = { kind, sent, options: form.options() };
    const html = await answered(asked, FORMS.html);
    if (html) show(asked, html);
  }

  const title = ({ sent }) => files.shown((sent.find(({ name }) => name === "synthetic") ?? sent[0]).file.name);

  function show(asked, html) {
    if (done) URL.revokeObjectURL(done.url);
    const stem = asked.sent[0].file.name.replace(/(\.\w{1,8}){1,2}$/, "") || "scores";
    const url = URL.createObjectURL(new Blob([html], { type: "text/html;charset=utf-8" }));
    done = { asked, html, url, stem: asked.kind.raw ? stem : asked.kind.operation };
    const frame = document.createElement("iframe");
    frame.title = "Report";
    frame.sandbox = "allow-same-origin allow-modals"; // runs no script
    frame.addEventListener("load", () => fit(frame));
    frame.src = url;
    at("shown").replaceChildren(frame);
    at("open").href = url;
    at("about").textContent = title(asked);
    at("report").hidden = false;
    tell();
    progress.say("The report is ready.");
    at("report").focus();
  }

  // As tall as the report is, whatever is unfolded in it.
  function fit(frame) {
    const root = frame.contentDocument?.documentElement;
    if (!root) return;
    const stretch = () => {
      frame.style.height = `${Math.ceil(root.getBoundingClientRect().height)}px`;
    };
    new ResizeObserver(stretch).observe(root);
    frame.contentWindow.addEventListener("hashchange", () => {
      stretch(); // to see what a link unfolds
      frame.contentDocument.querySelector(":target")?.scrollIntoView();
    });
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
    const wanted = slots.of(kind).filter(({ source, optional }) => source || !optional);
    const asked = {
      address: base,
      kind,
      sent: wanted.map(({ name, source }) => ({
        name,
        file: source?.file.name ?? `${kind.raw ? "scores" : name}.csv`,
        type: source?.type ?? FORMS.csv,
        coding: source?.coding,
      })),
      options: form.options(),
      values: form.values(),
      key: !at("locked").hidden,
    };
    at("shell").textContent = commands.shell(asked);
    at("python").textContent = commands.python(asked);
    if (!done) return;
    const before = done.asked;
    const now = slots.of(before.kind).filter(({ source }) => source);
    const kept = now.length === before.sent.length && now.every(({ source }, at) => source.file === before.sent[at].file);
    const changed = kind === before.kind && String(asked.options) !== String(before.options);
    const earlier = `This report is about the earlier ${before.kind.raw ? "scores" : "files"}.`;
    at("stale").textContent = !kept || kind !== before.kind ? earlier : changed ? "Options have changed since this report." : "";
  }

  async function copy(button) {
    const text = at(button.dataset.copies).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(at(button.dataset.copies)); // no clipboard without HTTPS
      button.textContent = "Selected";
    }
    setTimeout(() => button.replaceChildren("Copy"), 2000);
  }

  // --- what the reader does

  const click = (id, act) => at(id).addEventListener("click", act);
  for (const slot of slots.every) {
    slot.input.addEventListener("change", () => {
      const [file] = slot.input.files;
      if (file) choose(slot, file);
    });
    slot.chosen.addEventListener("click", ({ target }) => {
      if (target.localName !== "button") return;
      unchoose(slot);
      slot.input.focus();
    });
  }
  click("example", example);
  click("paste", paste);
  click("stop", () => {
    progress.stopping();
    running?.abort();
  });
  click("print", () => at("shown").firstElementChild.contentWindow.print());
  at("kinds").addEventListener("change", ({ target }) => turn(target.value));
  at("form").addEventListener("submit", (event) => {
    event.preventDefault();
    report();
  });
  at("form").addEventListener("input", ({ target }) => {
    if (target.name === "kind" || target.type === "file") return;
    if (scores.source?.pasted && target.localName === "textarea") unchoose(scores);
    form.part();
    form.settle(target.type === "checkbox" ? target.name : target.id);
    tell();
  });
  at("key").addEventListener("change", () => {
    for (const slot of filled()) if (!slot.answer) choose(slot, slot.source.file, slot.source);
  });
  for (const button of document.querySelectorAll("[data-form]"))
    button.addEventListener("click", () => keep(button.dataset.form));
  for (const button of document.querySelectorAll("[data-copies]")) button.addEventListener("click", () => copy(button));

  for (const name of ["dragover", "dragleave", "drop"])
    addEventListener(name, (event) => {
      event.preventDefault();
      for (const { root } of slots.of(kind))
        root.classList.toggle("over", name === "dragover" && (kind.raw || root.contains(event.target)));
    });
  addEventListener("drop", ({ dataTransfer, target }) => {
    const dropped = [...dataTransfer.files];
    if (!dropped.length) return;
    const pairs = slots.shared(kind, dropped, target);
    const left = dropped.length - pairs.length;
    const notes = left ? [`${kind.raw ? "one file at a time: " : ""}${left} more left out`] : [];
    pairs.forEach(([slot, file], place) => choose(slot, file, { notes: place ? [] : notes }));
  });

  const offered = at("form").dataset.operations.split(" ");
  for (const radio of at("kinds").querySelectorAll("input"))
    radio.closest("label").hidden = !offered.includes(kinds[radio.value].operation);
  turn(at("kinds").querySelector(":checked").value);
})();
