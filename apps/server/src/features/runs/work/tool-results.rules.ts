import type { StoredCall } from "../run.ts";

/** The same tool with the same arguments, whatever their order. */
export function callKey(tool: string, args: unknown): string {
  return `${tool} ${canonical(args)}`;
}

export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join(",")}}`;
}

const failuresAllowed = 3;
const repeatsNoticed = 3;

/**
 * The call that has failed too often in a row to go on, if there is one. The same call side by side in one turn counts
 * once: the model has not heard of its failure then.
 */
export function hopelessCall(calls: readonly StoredCall[]): StoredCall | undefined {
  const failures = new Map<string, { count: number; step: number }>();
  for (const call of calls) {
    if (call.status !== "ended") continue;
    const key = callKey(call.tool, call.arguments);
    const before = failures.get(key);
    if (call.isError && before?.step === call.step) continue;
    const count = call.isError ? (before?.count ?? 0) + 1 : 0;
    failures.set(key, { count, step: call.isError ? call.step : 0 });
    if (count >= failuresAllowed) return call;
  }
  return undefined;
}

/**
 * What is told beside a result that the very same call has now brought so often without a break. A call that is made
 * again and again to see whether something has changed is told nothing as long as something does. `text` is the whole
 * result, not cut yet.
 */
export function repeatNote(calls: readonly StoredCall[], tool: string, args: unknown, text: string): string {
  const key = callKey(tool, args);
  const before = calls.filter((call) => call.status === "ended" && callKey(call.tool, call.arguments) === key);
  // Each was cut to fit beside its own note.
  const other = before.findLastIndex(({ result }) => result !== cutResult(text, noteIn(result ?? "")));
  const times = before.length - other;
  return times < repeatsNoticed ? "" : noteOf(times);
}

/** A result as the tool brought it: the note is for the model alone. */
export function plainResult(result: string): string {
  return result.slice(0, result.length - noteIn(result).length);
}

function noteOf(times: number): string {
  return `\n\n[This very call has brought this very result ${times} times in a row. Making it again will hardly bring anything new.]`;
}

function noteIn(result: string): string {
  const at = result.lastIndexOf("\n\n[This very call");
  const times = at < 0 ? undefined : /\d+/.exec(result.slice(at))?.[0];
  const note = times === undefined ? "" : noteOf(Number(times));
  return result.endsWith(note) ? note : "";
}

/** Of a result as the model gets it: the mark of a cut, and what is told after it, included. */
const longestResult = 65_536;

/** The text and what is told after it. Where both do not fit, the text is cut with a mark. */
export function cutResult(text: string, after = ""): string {
  const room = longestResult - Buffer.byteLength(after);
  if (text.length <= room / 4 || Buffer.byteLength(text) <= room) return text + after;
  const bytes = Buffer.from(text);
  let end = room - Buffer.byteLength(markOf(bytes.length));
  while (isInsideCharacter(bytes, end)) end--;
  return bytes.toString("utf8", 0, end) + markOf(bytes.length - end) + after;
}

function markOf(bytes: number): string {
  return `\n[… cut: ${bytes} bytes more]`;
}

/** Whether a cut here would divide a character. */
function isInsideCharacter(utf8: Buffer, at: number): boolean {
  return ((utf8[at] ?? 0) & 0b1100_0000) === 0b1000_0000;
}
