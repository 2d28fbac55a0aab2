// What somebody may have, and how it is asked about.
// Of each: the operation, its function in Python, its files, the columns that play a part, and its options.
"use strict";

const kinds = (() => {
  const TABLE = "CSV, JSON lines, Parquet or Arrow";
  const TEXTS = "JSON lines, JSON, NPY or NPZ";
  const table = (name, title, hint, more) => ({ name, title, hint: `${hint} ${TABLE}.`, ...more });
  const texts = (name, title, hint) => ({ name, title, hint: `${hint} ${TEXTS}.`, loose: true });

  // The service's example holds all tables in one: its last column, or its member, says to which a row belongs.
  const byTable = (text) => {
    const [head, ...rows] = text.trim().split("\n").map((line) => line.split(","));
    return (name) => [head, ...rows.filter((row) => row.at(-1) === name)].map((row) => `${row.slice(0, -1)}\n`).join("");
  };
  const byMember = (text) => (name) =>
    text.split(/(?<=\n)/).filter((line) => line.includes('"member": true') === (name === "members")).join("");

  const COMMON = ["max_advantage", "prior", "confidence", "accept_exposure"];

  const all = {
    scores: {
      operation: "report",
      example: { file: "scores.csv", part: (text) => () => text },
      files: [
        {
          name: "file",
          title: "Choose a file",
          rest: "or drop it here",
          hint: "CSV or TSV with a header, JSON lines, Parquet, Arrow, NPY or NPZ; gzip and zstd, too.",
        },
      ],
      roles: ["score", "member", "group", "cluster"],
      options: [...COMMON, "max_group_advantage", "changes", "metric", "estimator"],
    },
    exposed: {
      roles: ["score", "member"],
      options: ["max_false_share", "direction", "confidence"],
    },
    run: {
      operation: "theory/one-run",
      python: "theory.one_run",
      roles: ["score", "member", "unit"],
      options: ["draw", "epsilon", "delta", "adjacency", "direction", "confidence"],
    },
    release: {
      operation: "synthetic",
      python: "audit_synthetic",
      files: [
        table("train", "Training rows", "What the release was made from."),
        table("holdout", "Hold-out rows", "Rows like these that it was not made from."),
        table("synthetic", "Released table", "What may go out."),
        table("reference", "Further rows", "Optional: of neither side.", { optional: true }),
      ],
      roles: ["leave_out", "unit", "group"],
      options: [...COMMON, "max_copies_over_holdout", "max_group_advantage"],
    },
    model: {
      python: "audit_predictions",
      files: [
        table("train", "Training rows", "What the model predicts for them, beside what is true."),
        table("holdout", "Hold-out rows", "The same columns of rows it was not trained on."),
      ],
      roles: ["truth", "predictions", "leave_out", "unit", "group"],
      options: [...COMMON, "max_group_advantage"],
    },
    text: {
      python: "audit_text",
      example: { file: "text.jsonl", part: byMember },
      files: [
        texts("members", "Texts it was trained on", "Of each the log-probabilities of its tokens."),
        texts("nonmembers", "Texts it has not seen", "Like these, cut to the same lengths."),
      ],
      roles: ["by"],
      options: COMMON,
    },
    usage: {
      limit: ["max_share", "0.9"],
      files: [
        table("members", "Records known to be used", "A score of each."),
        table("nonmembers", "Records known not to be used", "Like these."),
        table("candidates", "Records in question", "What share was used?"),
      ],
      roles: ["score", "unit"],
      options: ["max_share", "direction", "confidence"],
    },
    unlearning: {
      files: [
        table("forgotten", "Forgotten records", "A score of each."),
        table("unseen", "Records it has never seen", "Like these."),
        table("retained", "Records it kept", "Optional: for the share that remains.", { optional: true }),
      ],
      roles: ["score", "retrained", "id"],
      options: ["max_advantage", "confidence", "accept_exposure"],
    },
  };
  for (const [name, kind] of Object.entries(all)) {
    kind.name = name;
    kind.operation ??= name;
    kind.python ??= kind.operation;
    kind.raw = !kind.files || name === "scores"; // one file is the body, with options in the address; else all are a form
    kind.home = kind.raw ? "scores" : name; // whose files they are
    kind.example ??= kind.raw ? all.scores.example : { file: `${kind.operation}.csv`, part: byTable };
    for (const file of (kind.files ??= all.scores.files)) file.id = kind.raw ? file.name : `${name}-${file.name}`;
  }
  return Object.freeze(all);
})();
