import { randomFillSync } from "node:crypto";
import type { SpanContext } from "./telemetry.ts";

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const longestState = 512;

/** Undefined for an invalid `traceparent`: W3C then requires a new trace. */
export function parseTraceparent(header: string | null | undefined, state?: string): SpanContext | undefined {
  if (!header) return undefined;
  const found = pattern.exec(header);
  if (!found) return undefined;
  const [, version = "", traceId = "", spanId = "", flags = "", rest] = found;
  // Version 00 has exactly four fields. Later versions may have more.
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const sampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, sampled, ...(state && state.length <= longestState && { state }) };
}

export function formatTraceparent({ traceId, spanId, sampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

// Random bytes in bulk, because a call for eight bytes costs as much as for four thousand.
const pool = Buffer.alloc(4096);
let used = pool.length;

function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString("hex", used - bytes, used);
}

export const newTraceId = (): string => randomHex(16);
export const newSpanId = (): string => randomHex(8);
