// The form: what it asks for, and what was wrong with it.
"use strict";

const form = (() => {
  const at = (id) => document.getElementById(id);
  const PLAIN =
    "prior max_advantage max_group_advantage changes metric estimator confidence accept_exposure".split(" ");
  const ROLES = ["member", "group", "cluster"];
  const OTHER_NAMES = { groups: "group", scores: "score" };
  const DEFAULTS = { prior: 0.5, metric: "accuracy", confidence: 0.95 };

  const boxes = () => [...at("scores").querySelectorAll("input")];
  const known = () => !at("columns").hidden;
  const single = () => known() && !at("split").hidden;

  // Options unlike defaults, typed; columns by name.
  function values() {
    const found = {};
    if (single()) {
      if (at("first").value) found.members = Number(at("first").value);
    } else if (known()) {
      const scores = boxes().filter((box) => box.checked).map((box) => box.value);
      if (scores.length) found.score = scores.length > 1 ? scores : scores[0];
      for (const role of ROLES) if (at(role).value) found[role] = at(role).value;
    }
    for (const name of PLAIN) {
      const text = at(name).value.trim();
      const value = name === "metric" ? text : /^[{t]/.test(text) ? JSON.parse(text) : Number(text);
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

  function choice({ name, label }, chosen) {
    const made = document.createElement("label");
    const box = document.createElement("input");
    const text = document.createElement("bdi");
    Object.assign(box, { type: "checkbox", name: "score", value: name, checked: chosen });
    text.textContent = label;
    made.append(box, text, UNNAMEABLE.test(name) ? "Rename it: no comma, no space at its ends." : "");
    return made;
  }

  // The service's answer: { columns: [{ name, type }], score, no_score, member, group }.
  function fill(answer) {
    const columns = answer.columns.map((column) => ({ ...column, label: files.shown(column.name) || "(no name)" }));
    const scores = columns.filter(({ type }) => type !== "other");
    at("scores").replaceChildren(...scores.map((each) => choice(each, answer.score?.includes(each.name))));
    at("no-score").textContent = answer.no_score;
    at("score-none").hidden = answer.score;
    for (const role of ROLES) {
      const none = role === "member" ? answer.member === null && "Choose a column" : "None";
      const each = columns.filter(({ name }) => name && !(role === "cluster" && UNNAMEABLE.test(name)));
      const options = each.map(({ name, label }) => new Option(label, name));
      at(role).replaceChildren(...(none ? [new Option(none, "")] : []), ...options);
      at(role).value = answer[role] ?? "";
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
    at("first").max = total;
    at("first-hint").textContent = `How many of the ${total.toLocaleString("en")} values, counted from the first, are members.`;
    reveal("split");
  }

  // A column has one role.
  function part() {
    const taken = ROLES.map((role) => at(role).value);
    for (const box of boxes()) {
      box.disabled = UNNAMEABLE.test(box.value) || taken.includes(box.value);
      if (box.disabled) box.checked = false;
    }
  }

  const forget = () => {
    at("columns").hidden = true;
  };

  // Where a problem belongs: a visible control, or null.
  function place(field, pasted) {
    const plain = (field || "").split(".")[0];
    const name = OTHER_NAMES[plain] ?? plain;
    const whole = pasted ? "members" : "file";
    if (name === "members" && single()) return "first";
    if (name === "nonmembers" && pasted) return name;
    if (["file", "members", "nonmembers"].includes(name)) return whole;
    if (["score", ...ROLES].includes(name)) return known() && !single() ? name : whole;
    return PLAIN.includes(name) || name === "key" ? name : null;
  }

  const controls = (id) => (id === "score" ? boxes() : [at(id)]);

  function complain(id, text) {
    const line = at(`${id}-problem`);
    Object.assign(line, { hidden: false, textContent: text });
    for (const control of controls(id)) {
      control.setAttribute("aria-invalid", "true");
      if (id === "score") control.setAttribute("aria-describedby", "score-problem");
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
    const none = known() && !single() && !boxes().some((box) => box.checked);
    if (none) complain("score", "Tick a score.");
    const wrong = (control) => control.checkVisibility() && !control.validity.valid;
    const bad = none ? null : [...at("form").querySelectorAll("[data-need]")].find(wrong);
    if (bad) complain(bad.id, `Need ${bad.dataset.need}.`);
    return !none && !bad;
  }

  return Object.freeze({ at, values, options, fill, split, part, forget, place, complain, settle, clear, valid });
})();
