/** What a body must come to: its entries (a file as `file:<name>:<content>`), or the type and place of its fault. */
export type Outcome = [name: string, value: string][] | { type: string; loc: (string | number)[] };

export interface ScanCase {
  title: string;
  body: string | Buffer;
  outcome: Outcome;
}

export const boundary = "----cut-here'(1)";
const b = `--${boundary}`;
const part = (headers: string, content: string) => `${b}\r\n${headers}\r\n\r\n${content}\r\n`;
const field = (name: string, value: string) => part(`Content-Disposition: form-data; name="${name}"`, value);
const file = (name: string, filename: string, content: string, type = "image/png") =>
  part(`Content-Disposition: form-data; name="${name}"; ${filename}\r\nContent-Type: ${type}`, content);
const form = (...parts: string[]) => `${parts.join("")}${b}--\r\n`;
const malformed = { type: "multipart_invalid", loc: ["body"] };
const dispo = "Content-Disposition: form-data";

/** The bounds under which the cases are read. */
export const caseLimits = { maxFields: 4, maxFiles: 3, maxFieldBytes: 60, maxHeaderBytes: 300, maxNameLength: 20 };

const latin = (text: string) => Buffer.from(text, "latin1");

export const scanCases: ScanCase[] = [
  { title: "nothing but the last boundary", body: `${b}--\r\n`, outcome: [] },
  { title: "no line end behind the last boundary", body: `${field("a", "1")}${b}--`, outcome: [["a", "1"]] },
  {
    title: "four fields",
    body: form(field("a", "1"), field("b", ""), field("c", "ü€😀"), field("d", "x\r\ny")),
    outcome: [
      ["a", "1"],
      ["b", ""],
      ["c", "ü€😀"],
      ["d", "x\r\ny"],
    ],
  },
  {
    title: "the same name twice, in order",
    body: form(field("a", "1"), field("a", "2")),
    outcome: [
      ["a", "1"],
      ["a", "2"],
    ],
  },
  {
    title: "content that looks like a boundary",
    body: form(field("a", `\r\n--${boundary.slice(0, -1)}\r\n${b.slice(2)}\r`)),
    outcome: [["a", `\r\n--${boundary.slice(0, -1)}\r\n${b.slice(2)}\r`]],
  },
  { title: "only line ends as content", body: form(field("a", "\r\n\r\n\r\n")), outcome: [["a", "\r\n\r\n\r\n"]] },
  { title: "a preamble and an epilogue", body: `hello\r\n${form(field("a", "1"))}bye`, outcome: [["a", "1"]] },
  { title: "a preamble of an empty line", body: `\r\n${form(field("a", "1"))}`, outcome: [["a", "1"]] },
  {
    title: "blanks behind a boundary",
    body: form(field("a", "1")).replace(`${b}\r`, `${b} \t\r`),
    outcome: [["a", "1"]],
  },
  {
    title: "a part whose headers are followed by the boundary at once",
    body: `${b}\r\n${dispo}; name="a"\r\n\r\n${b}--`,
    outcome: [["a", ""]],
  },
  {
    title: "header names and values in any case",
    body: form(part("CONTENT-DISPOSITION:Form-Data;NAME=a", "1")),
    outcome: [["a", "1"]],
  },
  { title: "a folded header", body: form(part(`${dispo};\r\n name="a"`, "1")), outcome: [["a", "1"]] },
  { title: "a name in raw UTF-8", body: form(field("größe", "1")), outcome: [["größe", "1"]] },
  { title: "escaped quotes and backslashes", body: form(field('a\\"b\\\\c', "1")), outcome: [['a"b\\c', "1"]] },
  {
    title: "a semicolon and a boundary inside quotes",
    body: form(field("a; x=--1", "1")),
    outcome: [["a; x=--1", "1"]],
  },
  { title: "a semicolon at the end", body: form(part(`${dispo}; name="a";`, "1")), outcome: [["a", "1"]] },
  {
    title: "a text with a type",
    body: form(part(`${dispo}; name="a"\r\nContent-Type: application/json`, "{}")),
    outcome: [["a", "{}"]],
  },
  {
    title: "a text in Latin-1",
    body: latin(form(part(`${dispo}; name="a"\r\nContent-Type: text/plain; charset=ISO-8859-1`, "\xe4"))),
    outcome: [["a", "ä"]],
  },
  {
    title: "a text in an unknown character set",
    body: form(part(`${dispo}; name="a"\r\nContent-Type: text/plain; charset=klingon`, "x")),
    outcome: { type: "string_type", loc: ["body", "a"] },
  },
  {
    title: "a text that is not UTF-8",
    body: latin(form(field("a", "\xff\xfe"))),
    outcome: { type: "string_type", loc: ["body", "a"] },
  },
  { title: "a text with a real replacement character", body: form(field("a", "\ufffd")), outcome: [["a", "\ufffd"]] },
  { title: "a file", body: form(file("i", 'filename="a.png"', "PNG\r\n")), outcome: [["i", "file:a.png:PNG\r\n"]] },
  {
    title: "an empty file with a name",
    body: form(file("i", 'filename="a.png"', "")),
    outcome: [["i", "file:a.png:"]],
  },
  {
    title: "a file input left empty",
    body: form(file("i", 'filename=""', "", "application/octet-stream")),
    outcome: [["i", ""]],
  },
  {
    title: "bytes under an empty file name",
    body: form(file("i", 'filename=""', "PNG")),
    outcome: [["i", "file::PNG"]],
  },
  {
    title: "bytes without a file name",
    body: form(part(`${dispo}; name="i"\r\nContent-Type: image/png`, "PNG")),
    outcome: [["i", "file::PNG"]],
  },
  {
    title: "a file between fields",
    body: form(field("a", "1"), file("i", 'filename="a.png"', "x".repeat(500)), field("b", "2")),
    outcome: [
      ["a", "1"],
      ["i", `file:a.png:${"x".repeat(500)}`],
      ["b", "2"],
    ],
  },
  {
    title: "a path as file name",
    body: form(file("i", 'filename="C:\\dir\\a.png"', "1"), file("j", 'filename="/etc/../b.png"', "2")),
    outcome: [
      ["i", "file:a.png:1"],
      ["j", "file:b.png:2"],
    ],
  },
  {
    title: "filename* before filename",
    body: form(file("i", `filename="x.png"; filename*=UTF-8''%e2%82%ac%20.png`, "1")),
    outcome: [["i", "file:€ .png:1"]],
  },
  {
    title: "filename* in another character set",
    body: form(file("i", `filename="x.png"; filename*=koi8-r''%e2.png`, "1")),
    outcome: [["i", "file:x.png:1"]],
  },
  {
    title: "filename* that cannot be decoded",
    body: form(file("i", `filename="x.png"; filename*=utf-8''%ff.png`, "1")),
    outcome: [["i", "file:x.png:1"]],
  },
  {
    title: "an escaped quote in a file name",
    body: form(file("i", 'filename="a\\"b.png"', "1")),
    outcome: [["i", 'file:a"b.png:1']],
  },
  {
    title: "as many fields as allowed",
    body: form(...["a", "b", "c", "d"].map((n) => field(n, n))),
    outcome: [
      ["a", "a"],
      ["b", "b"],
      ["c", "c"],
      ["d", "d"],
    ],
  },
  {
    title: "a field too many",
    body: form(...["a", "b", "c", "d", "e"].map((n) => field(n, n))),
    outcome: { type: "too_many_fields", loc: ["body"] },
  },
  {
    title: "a file too many",
    body: form(...["a", "b", "c", "d"].map((n) => file(n, 'filename="x"', n))),
    outcome: { type: "too_many_fields", loc: ["body"] },
  },
  { title: "a field as long as allowed", body: form(field("a", "x".repeat(60))), outcome: [["a", "x".repeat(60)]] },
  {
    title: "a field too long",
    body: form(field("a", "x".repeat(61))),
    outcome: { type: "string_too_long", loc: ["body", "a"] },
  },
  {
    title: "a field too long, and no end",
    body: field("a", "x".repeat(600)),
    outcome: { type: "string_too_long", loc: ["body", "a"] },
  },
  { title: "a name too long", body: form(field("n".repeat(21), "1")), outcome: malformed },
  {
    title: "headers too long",
    body: form(part(`${dispo}; name="a"\r\nX-Long: ${"x".repeat(300)}`, "1")),
    outcome: malformed,
  },
  { title: "headers that never end", body: `${b}\r\n${dispo}; name="a"${" ".repeat(5000)}`, outcome: malformed },
  {
    title: "ten thousand parts",
    body: form(...Array.from({ length: 10_000 }, () => field("a", "1"))),
    outcome: { type: "too_many_fields", loc: ["body"] },
  },
  { title: "nothing at all", body: "", outcome: malformed },
  { title: "no last boundary", body: field("a", "1"), outcome: malformed },
  { title: "half a part", body: form(field("a", "1")).slice(0, 50), outcome: malformed },
  { title: "half a last boundary", body: form(field("a", "1")).slice(0, -5), outcome: malformed },
  { title: "one dash behind the last boundary", body: `${field("a", "1")}${b}-`, outcome: malformed },
  { title: "half a file", body: file("i", 'filename="a.png"', "x".repeat(900)), outcome: malformed },
  {
    title: "another boundary than declared",
    body: form(field("a", "1")).replaceAll(boundary, "other"),
    outcome: malformed,
  },
  { title: "another boundary, endlessly", body: "x".repeat(5000), outcome: malformed },
  {
    title: "a boundary that goes on",
    body: form(field("a", "1"), field("b", "2")).replace(`\r\n${b}\r\n`, `\r\n${b}more\r\n`),
    outcome: malformed,
  },
  {
    title: "data without end behind the last boundary",
    body: form(field("a", "1")) + "x".repeat(1000),
    outcome: malformed,
  },
  { title: "bare line feeds", body: form(field("a", "1")).replaceAll("\r\n", "\n"), outcome: malformed },
  { title: "no headers", body: form(`${b}\r\n\r\n1\r\n`), outcome: malformed },
  { title: "no empty line behind the headers", body: `${b}\r\n${dispo}; name="a"\r\n${b}--\r\n`, outcome: malformed },
  { title: "no disposition", body: form(part("Content-Type: text/plain", "1")), outcome: malformed },
  {
    title: "another disposition",
    body: form(part('Content-Disposition: attachment; name="a"', "1")),
    outcome: malformed,
  },
  { title: "no name", body: form(part(dispo, "1")), outcome: malformed },
  { title: "an empty name", body: form(field("", "1")), outcome: malformed },
  { title: "two names", body: form(part(`${dispo}; name="a"; name="b"`, "1")), outcome: malformed },
  { title: "two dispositions", body: form(part(`${dispo}; name="a"\r\n${dispo}; name="b"`, "1")), outcome: malformed },
  { title: "a quote that never closes", body: form(part(`${dispo}; name="a`, "1")), outcome: malformed },
  { title: "something behind a quote", body: form(part(`${dispo}; name="a"b`, "1")), outcome: malformed },
  { title: "a bare carriage return in a header", body: form(part(`${dispo}; name="a\rb"`, "1")), outcome: malformed },
  { title: "a NUL in a header", body: form(part(`${dispo}; name="a"\r\nX: \0`, "1")), outcome: malformed },
  { title: "a header without a name", body: form(part(`${dispo}; name="a"\r\n: x`, "1")), outcome: malformed },
  {
    title: "a transfer encoding",
    body: form(part(`${dispo}; name="a"\r\nContent-Transfer-Encoding: base64`, "MQ==")),
    outcome: malformed,
  },
];
