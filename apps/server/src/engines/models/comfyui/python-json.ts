import { broken } from "../upstream.ts";

/** Python writes NaN and Infinity, which JSON does not have. They become null. */
const pythonNumbers = /"(?:[^"\\]+|\\.)*"|-?\bInfinity\b|\bNaN\b/gs;

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return JSON.parse(text.replace(pythonNumbers, (part) => (part.startsWith('"') ? part : "null")));
    } catch {
      // The message of `JSON.parse` quotes the answer.
      const cause = new Error("The upstream's answer is not JSON");
      throw broken(cause, "The service behind the model did not answer with JSON.");
    }
  }
}
