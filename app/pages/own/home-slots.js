// Places for files: what was put into each, and what its columns are.
"use strict";

const slots = (() => {
  const { at } = form;

  function build(spec, kind) {
    const root = at("slot").content.firstElementChild.cloneNode(true);
    const [input, label, hint, chosen, problem] = ["input", "label", ".hint", ".chosen", ".problem"].map((each) => root.querySelector(each));
    const { id } = spec;
    input.id = id;
    label.htmlFor = id;
    [label.firstElementChild.textContent, label.lastElementChild.textContent] = [spec.title, spec.rest ?? "choose a file or drop it here"];
    Object.assign(hint, { id: `${id}-hint`, textContent: spec.hint });
    problem.id = `${id}-problem`;
    chosen.id = `${id}-chosen`;
    input.setAttribute("aria-describedby", `${id}-hint ${id}-problem`);
    return { ...spec, kind, root, input, chosen, source: null, answer: null, reading: null };
  }

  const every = Object.values(kinds).filter(({ name, home }) => name === home).flatMap((kind) => {
    const made = kind.files.map((spec) => build(spec, kind));
    const group = document.createElement("div");
    Object.assign(group, { id: `slots-${kind.name}`, className: kind.raw ? "" : "slots" });
    group.append(...made.map(({ root }) => root));
    at("slots").append(group);
    return made;
  });
  const of = (kind) => every.filter((slot) => slot.kind.name === kind.home);

  function clear(slot) {
    slot.reading?.abort();
    Object.assign(slot, { source: null, answer: null });
    form.settle(slot.id);
    slot.chosen.replaceChildren();
    slot.input.value = "";
  }

  // What came; `notes` are further facts.
  function introduce({ chosen, title, kind, source, answer }, notes) {
    const { file, name: format, coding } = source;
    const name = document.createElement("bdi");
    name.textContent = files.shown(file.name);
    const told = [coding ? `${format}, ${coding}` : format, files.size(file.size)];
    if (answer?.rows != null) told.push(count(answer.rows, "row"));
    if (answer?.columns.length) told.push(count(answer.columns.length, "column"));
    const remove = document.createElement("button");
    Object.assign(remove, { type: "button", className: "link", textContent: "Remove" });
    remove.setAttribute("aria-label", `Remove ${kind.raw ? "the file" : title}`);
    chosen.replaceChildren(name, ...[...told, ...notes].map((part) => ` · ${part}`), " · ", remove);
  }

  const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

  // Put a file there and ask for its columns. Whether it stayed.
  async function choose(slot, file, { pasted = false, notes = [], headers, refused }) {
    clear(slot);
    const { signal } = (slot.reading = new AbortController());
    try {
      const found = { ...(await files.recognise(file)), pasted };
      if (signal.aborted) return false;
      const all = found.name === "JSON" && slot.kind.raw ? ["posted as it is, as curl does below", ...notes] : notes;
      introduce({ ...slot, source: found }, all);
      const unfit = files.unfit(found);
      if (unfit) form.complain(slot.id, unfit);
      else await look(Object.assign(slot, { source: found }), headers, signal, all);
    } catch (error) {
      if (signal.aborted || (slot.loose && error.status !== 401)) return false; // texts need no columns
      if (error instanceof requests.Refused) refused(error, slot.id);
      else form.complain(slot.id, "This cannot be read as a file.");
    }
    return !signal.aborted;
  }

  async function look(slot, headers, signal, notes) {
    const head = await files.head(slot.source);
    if (!head) return;
    const sent = { ...headers, "Content-Type": slot.source.type, "Content-Encoding": head.coding, Accept: "application/json" };
    const answer = JSON.parse(await (await requests.post("v1/columns", head.body, sent, { signal })).text());
    const shape = slot.source.name === "NPY" && !answer.columns.length ? await files.shape(head.body) : [];
    if (signal.aborted) return;
    const sides = slot.kind.raw && slot.source.name === "NPZ" && answer.columns.map(({ name }) => name).sort();
    if (`${sides}` === "members,nonmembers") return introduce(slot, ["an array for each side", ...notes]);
    slot.answer = { ...answer, ...(shape.length === 2 ? numbered(shape[1]) : {}), values: shape.length === 1 ? shape[0] : null };
    introduce(slot, notes);
  }

  // Columns are numbered; the last says who is a member.
  function numbered(wide) {
    const columns = Array.from({ length: wide }, (_, place) => ({ name: String(place), type: "number" }));
    const score = wide === 2 ? ["0"] : null;
    return { columns, score, no_score: "several could be it", member: String(wide - 1), group: null };
  }

  // Files go to where they were dropped, else by their names, else to free places.
  function shared(kind, dropped, target) {
    const mine = of(kind);
    const on = mine.find(({ root }) => root.contains(target));
    if (kind.raw || (on && dropped.length === 1)) return [[on ?? mine[0], dropped[0]]];
    const free = mine.filter(({ source }) => !source);
    const pairs = [];
    for (const file of dropped) {
      const slot = free.find(({ name }) => CALLED[name].test(file.name)) ?? free.find((each) => !each.optional) ?? free[0];
      if (!slot) break;
      free.splice(free.indexOf(slot), 1);
      pairs.push([slot, file]);
    }
    return pairs;
  }
  const CALLED = {
    train: /train/i,
    holdout: /hold|test|val/i,
    synthetic: /syn|releas/i,
    reference: /ref/i,
    members: /^(?!.*(non|un)).*(member|known|seen|train)/i,
    nonmembers: /non|un|hold|fresh|test/i,
    candidates: /cand|corpus/i,
    forgotten: /forg/i,
    unseen: /un|never/i,
    retained: /ret/i,
  };

  return Object.freeze({ every, of, clear, choose, shared });
})();
