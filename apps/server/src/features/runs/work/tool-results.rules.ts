import type { StoredCall } from "../run.ts";

/** Equal for the same tool and arguments in any order. */
export function callKey(tool: string, args: unknown): string {
  return `${tool} ${canonical(args)}`;
}

export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join(",")}}`;
}

const maxFailures = 3;
const notedRepeats = 3;

/** A call that failed too often in a row. Equal calls of one step count once: the model has not seen the failure. */
export function failingCall(calls: readonly StoredCall[]): StoredCall | undefined {
  const failures = new Map<string, { count: number; step: number }>();
  for (const call of calls) {
    if (call.status !== "ended") continue;
    const key = callKey(call.tool, call.arguments);
    const before = failures.get(key);
    if (call.isError && before?.step === call.step) continue;
    const count = call.isError ? (before?.count ?? 0) + 1 : 0;
    failures.set(key, { count, step: call.isError ? call.step : 0 });
    if (count >= maxFailures) return call;
  }
  return undefined;
}

/** A note for a call that keeps returning the same result. `text` is the result before truncation. */
export function repeatNote(calls: readonly StoredCall[], tool: string, args: unknown, text: string): string {
  const key = callKey(tool, args);
  const before = calls.filter((call) => call.status === "ended" && callKey(call.tool, call.arguments) === key);
  // Each result was truncated to fit beside its own note.
  const other = before.findLastIndex(({ result }) => result !== truncateResult(text, noteIn(result ?? "")));
  const times = before.length - other;
  return times < notedRepeats ? "" : noteOf(times);
}

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

/** Limit of a result for the model, including notes. */
const maxResultBytes = 65_536;

/** Joins text and note; truncates the text if both do not fit. */
export function truncateResult(text: string, after = ""): string {
  const limit = maxResultBytes - Buffer.byteLength(after);
  if (text.length <= limit / 4 || Buffer.byteLength(text) <= limit) return text + after;
  const bytes = Buffer.from(text);
  let end = limit - Buffer.byteLength(markOf(bytes.length));
  while (isInsideCharacter(bytes, end)) end--;
  return bytes.toString("utf8", 0, end) + markOf(bytes.length - end) + after;
}

function markOf(bytes: number): string {
  return `\n[… cut: ${bytes} bytes more]`;
}

function isInsideCharacter(utf8: Buffer, at: number): boolean {
  return ((utf8[at] ?? 0) & 0b1100_0000) === 0b1000_0000;
}
