// The form: what it asks for, and what was wrong with it.
"use strict";

const form = (() => {
  const at = (id) => document.getElementById(id);
  const MANY = ["score", "predictions", "leave_out"]; // roles that several columns may have
  const OTHER_NAMES = { groups: "group", scores: "score", queries: "score" };
  const OTHER_TABLES = { members: "train", nonmembers: "holdout", released: "synthetic" };
  const DEFAULTS = { max_false_share: 0.1, prior: 0.5, metric: "accuracy", confidence: 0.95 };

  let kind = kinds.scores;

  const boxes = (role) => [...at(role).querySelectorAll("input")];
  const ticked = (role) => boxes(role).filter((box) => box.checked).map((box) => box.value);
  const known = () => !at("columns").hidden;
  const single = () => known() && !at("split").hidden;

  // Another kind of thing is asked about: only its own fields are there.
  function turn(to) {
    kind = to;
    for (const all of ["roles", "options"])
      for (const id of Object.values(kinds).flatMap((one) => one[all])) at(id).closest(".field").hidden = !kind[all].includes(id);
    for (const one of Object.values(kinds)) at(`slots-${one.home}`).hidden = one.home !== kind.home;
    at("pasting").hidden = !kind.raw;
    clear();
    forget();
  }

  // Options unlike defaults, typed; columns by name.
  function values() {
    const found = {};
    if (single()) {
      if (at("first").value) found.members = Number(at("first").value);
    } else if (known()) {
      for (const role of kind.roles) {
        const names = MANY.includes(role) ? ticked(role) : at(role).value;
        if (names.length) found[role] = names.length === 1 && role === "score" ? names[0] : names;
      }
    }
    for (const name of kind.options) {
      const text = at(name).value.trim();
      const plain = name === "utility" ? text.split(",").map(Number) : isNaN(text) ? text : Number(text);
      const value = /^({|true$|false$)/.test(text) ? JSON.parse(text) : plain;
      if (text && value !== DEFAULTS[name]) found[name] = value;
    }
    return found;
  }

  function options({ estimator, ...rest } = values()) {
    for (const name in estimator) rest[`estimator.${name}`] = estimator[name];
    return Object.entries(rest);
  }

  // Names stand in a list with commas, no space around them.
  const UNNAMEABLE = /,|^[\s\x1c-\x1f\x85]|[\s\x1c-\x1f\x85]$/;

  function choice(role, { name, label }, chosen) {
    const made = document.createElement("label");
    const box = document.createElement("input");
    const text = document.createElement("bdi");
    Object.assign(box, { type: "checkbox", name: role, value: name, checked: chosen });
    text.textContent = label;
    made.append(box, text, UNNAMEABLE.test(name) ? "Rename it: no comma, no space at its ends." : "");
    return made;
  }

  // The service's answer of /v1/columns; what it proposes is chosen.
  function fill(answer) {
    const columns = answer.columns.map((column) => ({ ...column, label: files.shown(column.name) || "(no name)" }));
    const proposed = { ...answer, leave_out: answer.ids };
    at("no-score").textContent = answer.no_score;
    at("score-none").hidden = answer.score || kind.several;
    for (const role of kind.roles) {
      if (MANY.includes(role)) {
        const usable = columns.filter(({ type, name }) => type !== "other" && (name || role === "score"));
        const every = ({ type, name }) => kind.several && type === "number" && !answer.ids.includes(name);
        const made = usable.map((one) => choice(role, one, every(one) || proposed[role]?.includes(one.name)));
        at(role).querySelector(".choices").replaceChildren(...made);
      } else {
        const usable = columns.filter(({ name }) => name && !(role === "cluster" && UNNAMEABLE.test(name)));
        const none = ["member", "truth"].includes(role) ? proposed[role] == null && "Choose a column" : "None";
        const made = usable.map(({ name, label }) => new Option(label, name));
        at(role).replaceChildren(...(none ? [new Option(none, "")] : []), ...made);
        at(role).value = proposed[role] ?? "";
      }
    }
    reveal("roles");
    part();
  }

  function reveal(one) {
    for (const id of ["roles", "split"]) at(id).hidden = id !== one;
    at("columns").hidden = false;
  }

  // An array without columns: its first values are members.
  function split(total) {
    at("first-hint").textContent = `How many of the ${total.toLocaleString("en")} values, counted from the first, are members.`;
    reveal("split");
  }

  // A column has one role.
  function part() {
    const taken = kind.roles.filter((role) => !MANY.includes(role)).map((role) => at(role).value);
    for (const box of kind.roles.filter((role) => MANY.includes(role)).flatMap(boxes)) {
      box.disabled = UNNAMEABLE.test(box.value) || taken.includes(box.value);
      if (box.disabled) box.checked = false;
    }
  }

  function forget() {
    at("columns").hidden = true;
    kind.roles.forEach(settle);
  }

  // Where a problem belongs: a visible control, or null.
  function place(field, pasted, detail = "") {
    const plain = (field || "").split(".")[0];
    const name = OTHER_NAMES[plain] ?? plain;
    const own = kind.options.includes(name) || name === "key" ? name : null;
    if (!kind.raw) {
      const told = /^(\w+): /.exec(detail)?.[1];
      const table = [told, name, OTHER_TABLES[name]].find((one) => kind.files.some((file) => file.name === one));
      if (table) return `${kind.name}-${table}`;
      return kind.roles.includes(name) && known() ? name : own;
    }
    const whole = pasted ? "members" : "file";
    if (name === "members" && single()) return "first";
    if (name === "nonmembers" && pasted) return name;
    if (["file", "members", "nonmembers"].includes(name)) return whole;
    if (kind.roles.includes(name)) return known() && !single() ? name : whole;
    return own;
  }

  const controls = (id) => (MANY.includes(id) ? boxes(id) : [at(id)]);

  function complain(id, text) {
    const line = at(`${id}-problem`);
    Object.assign(line, { hidden: false, textContent: text });
    for (const control of controls(id)) {
      control.setAttribute("aria-invalid", "true");
      if (MANY.includes(id)) control.setAttribute("aria-describedby", `${id}-problem`);
    }
    at(id).closest("details")?.setAttribute("open", "");
    controls(id).find((control) => !control.disabled)?.focus();
  }

  const silence = (line) => Object.assign(line, { hidden: true, textContent: "" });

  function settle(id) {
    const line = at(`${id}-problem`);
    if (!line) return;
    silence(line);
    for (const control of controls(id)) control.removeAttribute("aria-invalid");
  }

  function clear() {
    at("form").querySelectorAll(".problem[id]").forEach(silence);
    for (const control of at("form").querySelectorAll("[aria-invalid]")) control.removeAttribute("aria-invalid");
  }

  // What cannot be right, before sending.
  function valid() {
    const none = kind.raw && known() && !single() && !ticked("score").length;
    if (none) complain("score", "Tick a score.");
    const wrong = (control) => !control.closest("[hidden]") && !control.validity.valid;
    const bad = !none && [...at("form").querySelectorAll("[data-need]")].find(wrong);
    if (bad) complain(bad.id, `Need ${bad.dataset.need}.`);
    return !none && !bad;
  }

  return Object.freeze({ at, turn, values, options, fill, split, part, forget, place, complain, settle, clear, valid });
})();
