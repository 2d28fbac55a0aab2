// The request as a command and a program; all names stay names.
"use strict";

const commands = (() => {
  const escaped = (text, escape) => text.replace(files.HIDDEN, (found) => escape(found.codePointAt(0)));
  const hex = (code, wide) => code.toString(16).padStart(wide, "0");
  const spelt = (code) => (code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`);

  // A word for the shell; the unseen is spelled, in the quotes of bash, zsh and POSIX 2024.
  function word(text) {
    if (/^[\w./:=@%+-]+$/.test(text)) return text;
    if (!new RegExp(files.HIDDEN, "u").test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
    const plain = text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
    return `$'${escaped(plain, (code) => (code < 0x80 ? `\\x${hex(code, 2)}` : spelt(code)))}'`;
  }

  function literal(value) {
    if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
    if (typeof value !== "string") return JSON.stringify(value).replace(/^[tf]/, (first) => first.toUpperCase());
    const plain = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
    return `"${escaped(plain, spelt)}"`;
  }

  const path = (name) => (name.startsWith("-") ? `./${name}` : name);

  // A part of a form: curl reads commas and semicolons of a file's name, and @ and < of a value.
  function upload({ name, file }) {
    const plain = /^[\w./ -]+$/.test(file) ? path(file) : `"${path(file).replace(/[\\"]/g, "\\$&")}"`;
    return `-F ${word(`${name}=@${plain}`)}`;
  }
  const field = ([name, value]) => `${/^[\w.,+-]+$/.test(value) ? "-F" : "--form-string"} ${word(`${name}=${value}`)}`;

  // asked: { address, kind, sent: [{ name, file, type, coding }], options: [[name, value]], values, key }
  function shell({ address, kind, sent, options, key }) {
    const query = kind.raw ? new URLSearchParams(options).toString() : "";
    const [{ file, type, coding }] = sent;
    return [
      "curl --fail-with-body -o report.html",
      ...(kind.raw
        ? [`--data-binary ${word(`@${path(file)}`)}`, `-H 'Content-Type: ${type}'`]
        : [...sent.map(upload), ...options.map(field)]),
      ...(kind.raw && coding ? [`-H 'Content-Encoding: ${coding}'`] : []),
      "-H 'Accept: text/html'",
      ...(key ? ['-H "Authorization: Bearer $MACE_API_KEY"'] : []),
      word(`${address}v1/${kind.operation}${query && `?${query}`}`),
    ].join(" \\\n  ");
  }

  function python({ address, kind, sent, values, key }) {
    const { members, ...named } = values;
    const [{ file, coding }] = sent;
    const first = members ? [`values[:${members}]`, `values[${members}:]`] : sent.map((each) => literal(each.file));
    const given = Object.entries(named).map(([name, value]) => `${name}=${literal(value)}`);
    const opened = coding === "gzip" ? `gzip.open(${literal(file)})` : literal(file);
    const server = [literal(address.replace(/\/$/, "")), ...(key ? ['key=os.environ["MACE_API_KEY"]'] : [])];
    return [
      ...(members && coding === "gzip" ? ["import gzip"] : []),
      ...(key ? ["import os"] : []),
      "import macekit",
      ...(members ? ["import numpy", "", `values = numpy.load(${opened})`] : [""]),
      `server = macekit.Mace(${server.join(", ")})`,
      `report = server.${kind.python}(${[...first, ...given].join(", ")})`,
      'report.to_html("report.html")',
    ].join("\n");
  }

  return Object.freeze({ shell, python });
})();
