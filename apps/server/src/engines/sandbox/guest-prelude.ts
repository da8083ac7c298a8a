/** Lengths of a value, an error and the log. A cut value with its mark fits into a tool's result. */
export const mostValueChars = 64_000;
export const mostErrorChars = 4_000;
export const mostLogChars = 16_384;

/**
 * Evaluated in the interpreter before the program. Creates the console and turns the program's result into text inside
 * the interpreter, so that only text crosses to the host. It takes the built-in functions before the program can change
 * them; a changed built-in object affects only the program's own text.
 *
 * Its value is a function that takes the host's `emit` and, for a program with files, `ask`. It returns
 * `{accept, settle, explain}`.
 */
export const guestPrelude = `(emit, ask) => {
  "use strict";
  const { stringify, parse } = JSON;
  const { from } = Array;
  const text = String;
  const call = Function.prototype.call;
  const slice = call.bind(String.prototype.slice);
  const replaceAll = call.bind(String.prototype.replaceAll);
  const isFinite = Number.isFinite;
  const [TheMap, TheSet, TheError] = [Map, Set, Error];
  const toWellFormed = call.bind(String.prototype.toWellFormed);
  // Text that crosses ends at a NUL, and a lone surrogate becomes several characters.
  const crossing = (any) => toWellFormed(replaceAll(any, "\\0", "\\ufffd"));
  const cut = (long, most) => long.length <= most ? long : slice(long, 0, most) + " [cut: " + long.length + " characters in all]";

  const heading = (error) => {
    const { name, message } = error;
    return message === undefined || message === "" ? text(name) : text(name) + ": " + text(message);
  };
  const replacer = (_key, value) => {
    if (typeof value === "bigint") return text(value);
    if (value instanceof TheMap || value instanceof TheSet) return from(value);
    if (value instanceof TheError) return heading(value);
    return value;
  };
  const describe = (value) => {
    if (typeof value === "bigint") return text(value) + "n";
    if (typeof value === "number" && !isFinite(value)) return text(value);
    if (typeof value === "symbol") return text(value);
    if (typeof value === "function") return "[function " + text(value.name) + "]";
    return stringify(value, replacer) ?? "undefined";
  };
  const explain = (error) => {
    try {
      if (!(error instanceof TheError)) return cut("Thrown: " + (typeof error === "string" ? error : describe(error)), ${mostErrorChars});
      const { stack } = error;
      const where = typeof stack === "string" && stack !== "" ? "\\n" + cut(stack, 400) : "";
      return cut(heading(error), ${mostErrorChars - 500}) + where;
    } catch {
      return "The program threw a value that cannot be shown";
    }
  };
  const logged = (value) => {
    try {
      if (value instanceof TheError) return explain(value);
      return typeof value === "string" ? value : describe(value);
    } catch {
      return "[cannot be shown]";
    }
  };
  const log = (...values) => {
    let line = "";
    for (let at = 0; at < values.length && line.length <= ${mostLogChars}; at++) line += (at > 0 ? " " : "") + cut(logged(values[at]), ${mostLogChars});
    emit(crossing(slice(line, 0, ${mostLogChars + 1})));
  };
  if (ask) {
    const [Bytes, Buffer, isView, TheTypeError] = [Uint8Array, ArrayBuffer, ArrayBuffer.isView, TypeError];
    const pathOf = (path) => {
      if (typeof path !== "string" || path.includes("\\0")) throw new TheTypeError("A path is a text such as /notes/today.md");
      return toWellFormed(path);
    };
    const contentOf = (content) => {
      if (typeof content === "string") {
        if (content.includes("\\0")) throw new TheTypeError("The text contains a NUL character: write it as bytes");
        return toWellFormed(content);
      }
      if (isView(content)) return new Bytes(new Bytes(content.buffer, content.byteOffset, content.byteLength)).buffer;
      if (content instanceof Buffer) return content;
      throw new TheTypeError("files.write takes a text or bytes (Uint8Array, ArrayBuffer)");
    };
    globalThis.files = {
      read: (path) => ask("readText", pathOf(path)),
      readBytes: (path) => new Bytes(ask("readBytes", pathOf(path))),
      list: (path = "/") => parse(ask("list", pathOf(path))),
      write: (path, content) => ask("write", pathOf(path), contentOf(content)),
    };
  }
  globalThis.console = { log, info: log, warn: log, error: log, debug: log };

  return {
    accept: (json) => { globalThis.input = parse(json); },
    explain: (error) => crossing(explain(error)),
    settle: async (running) => {
      let value;
      try {
        value = await (await running).value;
      } catch (error) {
        return "!" + crossing(explain(error));
      }
      try {
        return crossing("=" + cut(describe(value), ${mostValueChars}));
      } catch (error) {
        return crossing("!The value of the last expression cannot be written as JSON: " + logged(error instanceof TheError ? heading(error) : error));
      }
    },
  };
}`;
