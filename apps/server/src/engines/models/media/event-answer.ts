import type { NetResponse } from "../../net/net.ts";
import { createSseReader, type SseEvent } from "../sse.ts";
import { answerFault } from "./call.ts";

export function isEventStream(answer: NetResponse): boolean {
  return String(answer.headers["content-type"] ?? "").startsWith("text/event-stream");
}

/** The events of an answer one by one; the next piece is read when the last event was dealt with. */
export async function* eventsOf(
  answer: NetResponse,
  options: { signal: AbortSignal; key: string | undefined },
): AsyncGenerator<SseEvent> {
  const sse = createSseReader();
  try {
    for await (const chunk of answer.body) yield* sse.push(chunk as Buffer);
    yield* sse.end();
  } catch (error) {
    options.signal.throwIfAborted();
    throw answerFault(error, options.key);
  }
}

/** The object of an event's data; undefined where it holds none. */
export function objectOf(data: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
