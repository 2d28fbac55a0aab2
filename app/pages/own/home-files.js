// What a file is, by the table of formats.py, and how much of it tells its columns.
"use strict";

const files = (() => {
  const FORMATS = JSON.parse(document.querySelector("[data-formats]").dataset.formats);
  const SPREADSHEET = { name: "spreadsheet", magic: ["\xd0\xcf\x11\xe0"], suffixes: [] };
  const CODINGS = { gzip: "\x1f\x8b", zstd: "\x28\xb5\x2f\xfd" };
  const HEAD = 2 ** 18;
  const NPY_HEAD = 2 ** 12;
  const FOOTER = 2 ** 24;

  const begins = (bytes, magic) => [...magic].every((letter, at) => bytes[at] === letter.charCodeAt());
  const first = async (blob, size) => new Uint8Array(await blob.slice(0, size).arrayBuffer());

  // The first bytes behind gzip, as far as they can be read.
  async function unzipped(file, size) {
    const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
    const parts = [];
    let got = 0;
    try {
      while (got < size) {
        const { done, value } = await reader.read();
        if (done) break;
        parts.push(value);
        got += value.length;
      }
      await reader.cancel();
    } catch {
      // the service will say what is wrong with it
    }
    return new Blob(parts).slice(0, size);
  }

  // { file, name, type, coding }: what the body is sent as.
  async function recognise(file) {
    const bytes = await first(file, 8);
    const coding = Object.keys(CODINGS).find((each) => begins(bytes, CODINGS[each])) ?? null;
    const plain = coding === "gzip" ? await first(await unzipped(file, 8), 8) : bytes;
    const bare = file.name.toLowerCase().replace(/\.(gz|gzip|zst|zstd)$/, "");
    const otherwise = new TextDecoder().decode(plain).trimStart().startsWith("{") ? "JSON" : "CSV";
    const format =
      [...FORMATS, SPREADSHEET].find(({ magic }) => magic.some((each) => begins(plain, each))) ??
      FORMATS.find(({ suffixes }) => suffixes.some((each) => bare.endsWith(each))) ??
      FORMATS.find(({ name }) => name === otherwise);
    return { file, name: format.name, type: format.type, coding };
  }

  // Why a file can hold no scores; null if it can.
  function unfit({ file, type }) {
    if (!file.size) return "The file is empty.";
    return type ? null : "This is a spreadsheet: export the table as CSV, and choose that.";
  }

  // { body, coding }: enough of a file to tell its columns; null if only all of it is.
  async function head({ file, name, coding }) {
    if (name === "JSON") return null;
    if (name === "NPZ") return { body: file, coding };
    if (name === "Parquet") return coding ? null : { body: await footer(file), coding };
    const size = name === "NPY" ? NPY_HEAD : HEAD;
    if (coding === "gzip") return { body: await unzipped(file, size), coding: null };
    return { body: file.slice(0, coding ? HEAD : size), coding };
  }

  // The dimensions of an NPY array; none if they cannot be read.
  async function shape(body) {
    const found = /'shape':\s*\(([\d, ]*)\)/.exec(await body.text());
    return (found?.[1].match(/\d+/g) ?? []).map(Number);
  }

  // Parquet says its columns at its end.
  async function footer(file) {
    const end = new DataView(await file.slice(-8).arrayBuffer());
    const size = end.byteLength === 8 ? end.getUint32(0, true) : 0;
    if (size > FOOTER || size + 12 > file.size) return file.slice(0, 12);
    return new Blob(["PAR1", file.slice(-8 - size)]);
  }

  const lines = (text) => text.split(/\r?\n|\r/).map((line) => line.trim()).filter(Boolean);
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

  const DECIMAL_COMMA = /(^|[\s;"'])[+-]?\d*,\d+(e[+-]?\d+)?,?($|[\s;"'])/i;
  const numbers = (line, between) => {
    const parts = line.split(between).filter(Boolean);
    return parts.every((part) => number.test(part)) ? parts : [line];
  };
  const listed = (line) => numbers(line, /,\s+|[\s;]+|,$/);

  // What is not clear about one side: a comma may stand between numbers, or in them.
  function unclear(text) {
    const rows = lines(text);
    if (DECIMAL_COMMA.test(text)) return "The numbers have a decimal comma; write a point.";
    if (/^\s*[[(]/.test(text)) return "Write the numbers without brackets.";
    const found = side(text);
    const odd = found.filter((score) => !number.test(score));
    if (odd.length && 2 * odd.length < found.length) return `Not a number: ${shown(odd[0])}.`;
    if (!rows.some((row) => numbers(row, /[\s,;]+/).length > 1)) return null;
    if (rows.length > 1) return "A line holds several numbers; write one a line.";
    return listed(text).length > 1 ? null : "Write a space after each comma between numbers.";
  }

  // One side: a score a line, or numbers in one line; a heading is dropped.
  const HEADING = /^(?!(nan?|n\/a|null|none|inf(inity)?)$)["'(_]?\p{L}/iu;
  function side(text) {
    const found = lines(text).flatMap(listed);
    const [heading, ...rest] = found;
    return rest.length && HEADING.test(heading) && rest.every((part) => number.test(part)) ? rest : found;
  }

  const quoted = (text) => (/[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  function pasted(members, nonmembers) {
    const rows = (text, member) => side(text).map((score) => `${quoted(score)},${member}\n`);
    const both = () => ["score,member\n", ...rows(members, 1), ...rows(nonmembers, 0)].join("");
    return new File([nonmembers.trim() ? both() : members], "scores.csv", { type: "text/csv" });
  }

  const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  function size(bytes) {
    const power = Math.min(bytes > 0 ? Math.floor(Math.log2(bytes) / 10) : 0, UNITS.length - 1);
    const scaled = bytes / 1024 ** power;
    return `${scaled.toFixed(power && scaled < 10 ? 1 : 0)} ${UNITS[power]}`;
  }

  // A name as it can be read.
  const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/gu;
  function shown(name, most = 60) {
    const letters = Array.from(name.slice(0, 4 * most));
    const short = letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : letters.join("");
    return short.replace(HIDDEN, (found) => `‹${found.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
  }

  return Object.freeze({ recognise, unfit, head, shape, unclear, pasted, size, shown, HIDDEN });
})();
