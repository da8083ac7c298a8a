import type { ServerResponse } from "node:http";
import { untilDrained } from "../foundation/client-presence.ts";
import { prefersOverJson } from "../foundation/preferred-type.rules.ts";

export function wantsJsonLines(accept: string | undefined): boolean {
  return prefersOverJson(accept, "application/x-ndjson");
}

/**
 * Writes one object per line, at the pace of the reader. Ends early if the reader disconnects or reading fails; then
 * the last event is missing, and the reader reconnects.
 */
export async function sendJsonLines(
  response: ServerResponse,
  headers: Record<string, string>,
  events: AsyncIterable<Record<string, unknown>>,
): Promise<void> {
  response.writeHead(200, {
    ...headers,
    "content-type": "application/x-ndjson; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  try {
    for await (const event of events) {
      if (response.destroyed) return;
      if (!response.write(`${JSON.stringify(event)}\n`)) await untilDrained(response);
    }
  } finally {
    response.end();
  }
}
