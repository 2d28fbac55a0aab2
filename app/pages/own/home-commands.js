// The request as a command and a program; whatever a file or column is called stays a name.
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
    if (typeof value !== "string") return JSON.stringify(value);
    const plain = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
    return `"${escaped(plain, spelt)}"`;
  }

  // asked: { address, file, type, coding, options: [[name, value]], key }
  function shell({ address, file, type, coding, options, key }) {
    const query = new URLSearchParams(options).toString();
    const named = file.startsWith("-") ? `./${file}` : file;
    return [
      "curl --fail-with-body -o report.html",
      `--data-binary ${word(`@${named}`)}`,
      `-H 'Content-Type: ${type}'`,
      ...(coding ? [`-H 'Content-Encoding: ${coding}'`] : []),
      "-H 'Accept: text/html'",
      ...(key ? ['-H "Authorization: Bearer $MACE_API_KEY"'] : []),
      word(`${address}v1/report${query && `?${query}`}`),
    ].join(" \\\n  ");
  }

  function python({ address, file, coding, values, key }) {
    const { members, ...named } = values;
    const first = members ? [`values[:${members}]`, `values[${members}:]`] : [literal(file)];
    const given = Object.entries(named).map(([name, value]) => `${name}=${literal(value)}`);
    const opened = coding === "gzip" ? `gzip.open(${literal(file)})` : literal(file);
    const server = [literal(address.replace(/\/$/, "")), ...(key ? ['key=os.environ["MACE_API_KEY"]'] : [])];
    return [
      ...(members && coding === "gzip" ? ["import gzip"] : []),
      ...(key ? ["import os"] : []),
      "import macekit",
      ...(members ? ["import numpy", "", `values = numpy.load(${opened})`] : [""]),
      `server = macekit.Mace(${server.join(", ")})`,
      `report = server.report(${[...first, ...given].join(", ")})`,
      'report.to_html("report.html")',
    ].join("\n");
  }

  return Object.freeze({ shell, python });
})();
