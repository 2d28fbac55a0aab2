// What somebody may have, and how it is asked about.
// Of each: the operation, its function in Python, its files, the columns in use, its options, and what an example
// fills in.
"use strict";

const kinds = (() => {
  // The service's example holds all tables in one: its last column, or its member, says which.
  const byTable = (text) => {
    const [head, ...rows] = text.trim().split("\n").map((line) => line.split(","));
    return (name) => [head, ...rows.filter((row) => row.at(-1) === name)].map((row) => `${row.slice(0, -1)}\n`).join("");
  };
  const byMember = (text) => (name) =>
    text.split(/(?<=\n)/).filter((line) => line.includes('"member": true') === (name === "members")).join("");

  const COMMON = "max_advantage prior confidence accept_exposure";

  const all = {
    scores: {
      operation: "report",
      example: { file: "scores.csv", part: (text) => () => text },
      files: [
        {
          id: "file",
          name: "file",
          title: "Choose a file",
          rest: "or drop it here",
          hint: "CSV or TSV with a header, JSON lines, Parquet, Arrow, NPY or NPZ; gzip and zstd, too.",
        },
      ],
      roles: "score member group cluster",
      options: `${COMMON} max_group_advantage changes metric estimator`,
    },
    exposed: {
      roles: "score member",
      options: "max_false_share direction confidence",
    },
    run: {
      operation: "theory/one-run",
      python: "theory.one_run",
      roles: "score member unit model",
      options: "draw epsilon delta adjacency direction confidence",
    },
    frontier: {
      several: true, // each score is a candidate
      fill: { utility: "0.7,0.8" },
      roles: "score member cluster",
      options: `${COMMON} utility in_order starts`,
    },
    release: {
      operation: "synthetic",
      python: "audit_synthetic",
      files: [
        ["train", "Training rows", "What the release was made from."],
        ["holdout", "Hold-out rows", "Rows like these that it was not made from."],
        ["synthetic", "Released table", "What may go out."],
        ["reference", "Further rows", "Optional: of neither side."],
      ],
      roles: "leave_out unit group",
      options: `${COMMON} max_copies_over_holdout max_group_advantage`,
    },
    model: {
      python: "audit_predictions",
      files: [
        ["train", "Training rows", "What the model predicts for them, beside what is true."],
        ["holdout", "Hold-out rows", "The same columns of rows it was not trained on."],
      ],
      roles: "truth predictions leave_out unit group",
      options: `${COMMON} max_group_advantage`,
    },
    text: {
      python: "audit_text",
      example: { file: "text.jsonl", part: byMember },
      formats: "JSON lines, JSON, NPY or NPZ",
      files: [
        ["members", "Texts it was trained on", "Of each the log-probabilities of its tokens."],
        ["nonmembers", "Texts it has not seen", "Like these, cut to the same lengths."],
      ],
      roles: "by",
      options: COMMON,
    },
    usage: {
      fill: { max_share: 0.9 },
      files: [
        ["members", "Records known to be used", "A score of each."],
        ["nonmembers", "Records known not to be used", "Like these."],
        ["candidates", "Records in question", "What share was used?"],
      ],
      roles: "score unit",
      options: "max_share direction confidence",
    },
    unlearning: {
      files: [
        ["forgotten", "Forgotten records", "A score of each."],
        ["unseen", "Records it has never seen", "Like these."],
        ["retained", "Records it kept", "Optional: for the share that remains."],
      ],
      roles: "score retrained id",
      options: "max_advantage confidence accept_exposure",
    },
  };
  for (const [name, kind] of Object.entries(all)) {
    kind.name = name;
    for (const list of ["roles", "options"]) kind[list] = kind[list].split(" ");
    kind.operation ??= name;
    kind.python ??= kind.operation;
    kind.raw = !kind.files || name === "scores"; // one file is the body, with options in the address; else all are a form
    kind.home = kind.raw ? "scores" : name; // whose files they are
    kind.example ??= kind.raw ? all.scores.example : { file: `${kind.operation}.csv`, part: byTable };
    const spec = ([name, title, hint]) => ({
      id: `${kind.name}-${name}`,
      name,
      title,
      hint: `${hint} ${kind.formats ?? "CSV, JSON lines, Parquet or Arrow"}.`,
      optional: hint.startsWith("Optional"),
      loose: kind.formats, // texts need no columns
    });
    kind.files = kind.raw ? all.scores.files : kind.files.map(spec);
  }
  return Object.freeze(all);
})();
