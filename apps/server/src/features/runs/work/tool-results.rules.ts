import { createHash } from "node:crypto";
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

const keyHashes = new WeakMap<StoredCall, string>();

/** A hash of `callKey`. Computed once for each call, because arguments can be long and calls are compared often. */
function keyHash(call: StoredCall): string {
  let hash = keyHashes.get(call);
  if (hash === undefined) {
    hash = createHash("sha256").update(callKey(call.tool, call.arguments)).digest("base64");
    keyHashes.set(call, hash);
  }
  return hash;
}

const maxFailures = 3;
const notedRepeats = 3;
/** A run may have 64,000 calls. To compare each with all earlier ones would take minutes. */
const recentCalls = 256;

/** A call that failed too often in a row. Equal calls of one step count once: the model has not seen the failure. */
export function failingCall(calls: readonly StoredCall[]): StoredCall | undefined {
  const failures = new Map<string, { count: number; step: number }>();
  for (const call of calls) {
    if (call.status !== "ended") continue;
    const key = keyHash(call);
    const before = failures.get(key);
    if (call.isError && before?.step === call.step) continue;
    const count = call.isError ? (before?.count ?? 0) + 1 : 0;
    failures.set(key, { count, step: call.isError ? call.step : 0 });
    if (count >= maxFailures) return call;
  }
  return undefined;
}

/** A note for a call that keeps returning the same result. `text` is the result before truncation. */
export function repeatNote(calls: readonly StoredCall[], call: StoredCall, text: string): string {
  const key = keyHash(call);
  const isSame = sameResult(text);
  let times = 1;
  for (const one of calls.slice(-recentCalls).reverse()) {
    if (one.status !== "ended" || one.tool !== call.tool || keyHash(one) !== key) continue;
    if (!isSame(one.result ?? "")) break;
    times++;
  }
  return times < notedRepeats ? "" : noteOf(times);
}

/** Whether a stored result is of this text. Each result was truncated to fit beside its own note. */
function sameResult(text: string): (result: string) => boolean {
  const shown = new Map<number, string>();
  return (result) => {
    const { length } = noteIn(result);
    const plain = shown.get(length) ?? truncated(text, maxResultBytes - length);
    shown.set(length, plain);
    // Equality is much faster than `startsWith`.
    return result.slice(0, result.length - length) === plain;
  };
}

export function plainResult(result: string): string {
  return result.slice(0, result.length - noteIn(result).length);
}

function noteOf(times: number): string {
  return `\n\n[This very call has brought this very result ${times} times in a row. Making it again will hardly bring anything new.]`;
}

/** Longer than a note. */
const noteTail = 200;

function noteIn(result: string): string {
  const tail = result.slice(-noteTail);
  const at = tail.lastIndexOf("\n\n[This very call");
  const times = at < 0 ? undefined : /\d+/.exec(tail.slice(at))?.[0];
  const note = times === undefined ? "" : noteOf(Number(times));
  return result.endsWith(note) ? note : "";
}

/** Limit of a result for the model, including notes. */
const maxResultBytes = 65_536;

/** Joins text and note; truncates the text if both do not fit. */
export function truncateResult(text: string, after = ""): string {
  return truncated(text, maxResultBytes - Buffer.byteLength(after)) + after;
}

function truncated(text: string, limit: number): string {
  if (text.length <= limit / 4 || Buffer.byteLength(text) <= limit) return text;
  const bytes = Buffer.from(text);
  let end = limit - Buffer.byteLength(markOf(bytes.length));
  while (isInsideCharacter(bytes, end)) end--;
  return bytes.toString("utf8", 0, end) + markOf(bytes.length - end);
}

function markOf(bytes: number): string {
  return `\n[… cut: ${bytes} bytes more]`;
}

function isInsideCharacter(utf8: Buffer, at: number): boolean {
  return ((utf8[at] ?? 0) & 0b1100_0000) === 0b1000_0000;
}
