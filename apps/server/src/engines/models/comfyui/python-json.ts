import { broken } from "../upstream.ts";

const quote = 0x22;
const backslash = 0x5c;
const shortestNumber = "NaN".length;

/** Python writes NaN and Infinity, which JSON does not have. They become null. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return JSON.parse(withoutPythonNumbers(text));
    } catch {
      // The message of `JSON.parse` quotes the answer.
      const cause = new Error("The upstream's answer is not JSON");
      throw broken(cause, "The service behind the model did not answer with JSON.");
    }
  }
}

/** Takes time proportional to the text. A regular expression for strings would not, if a quote is missing. */
function withoutPythonNumbers(text: string): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf('"', at);
    const end = open < 0 ? text.length : open;
    const outside = end - at < shortestNumber ? "" : text.slice(at, end);
    if (outside.includes("N") || outside.includes("I")) {
      parts.push(text.slice(copied, at), outside.replace(/-?\bInfinity\b|\bNaN\b/g, "null"));
      copied = end;
    }
    at = open < 0 ? end : endOfString(text, open);
  }
  parts.push(text.slice(copied));
  return parts.join("");
}

function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    const letter = text.charCodeAt(at);
    if (letter === quote) return at + 1;
    if (letter === backslash) at++;
  }
  return text.length;
}
