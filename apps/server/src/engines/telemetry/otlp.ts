import type { Net } from "../net/net.ts";
import type { Attributes } from "./telemetry.ts";

const retryable = new Set([429, 502, 503, 504]);

/** Sends a body in OTLP's JSON form. Returns what went wrong, and whether a retry may help. */
export async function postOtlp(
  net: Net,
  {
    url,
    headers,
    body,
    limitMs,
  }: { url: string; headers: Readonly<Record<string, string>> | undefined; body: string; limitMs: number },
): Promise<[trouble: unknown, isRetryable: boolean]> {
  try {
    const bounds = { totalMs: limitMs, headersMs: limitMs, idleMs: limitMs, maxBytes: 65_536 };
    const answer = await net.request({
      url,
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
      bounds,
    });
    await answer.body.dump().catch(() => undefined);
    if (answer.status >= 200 && answer.status < 300) return [undefined, false];
    return [new Error(`The collector answered ${answer.status}`), retryable.has(answer.status)];
  } catch (error) {
    return [error, true];
  }
}

/** Nanoseconds since 1970 exceed a safe integer. Microseconds do not. */
export function nanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds * 1000)}000`;
}

export function toAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: toValue(value) }));
}

function toValue(value: Attributes[string]): object {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toValue) } };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value !== "number") return { stringValue: String(value) };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
