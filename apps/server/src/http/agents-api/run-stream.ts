import type { RunText } from "@gantry/wire";
import type { FastifyReply } from "fastify";
import type { Run, Runs, TextPiece } from "../../features/runs/index.ts";
import { untilDrained } from "../foundation/client-presence.ts";
import type { StreamKeys } from "./run-stream-keys.ts";

const keepAliveMs = 15_000;
const reconnectMs = 2_000;

/**
 * Streams the events of a run from its log as Server-Sent Events: past events, then new ones, until the run ends. A reader
 * that disconnects stops nothing and can resume after its last event. HEAD is answered at once. With text, pieces of what
 * the model writes come between the events, without an id.
 *
 *   open ──run ends──► last event, end
 *     ├──reader disconnects──► closed
 *     └──key revoked, node stops, database unavailable──► end without a last event: the reader reconnects
 */
export async function streamRunEvents(
  { runs, keys }: { runs: Runs; keys: StreamKeys },
  run: Run,
  { after, withText }: { after: number; withText: boolean },
  reply: FastifyReply,
): Promise<void> {
  const isOver = run.status === "done" || run.status === "error";
  if (isOver && after >= run.lastEvent) {
    // 204 tells an EventSource not to reconnect.
    await reply.code(204).send();
    return;
  }
  reply.hijack();
  const response = reply.raw;
  const leaving = new AbortController();
  response.once("close", () => leaving.abort());
  response.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  if (reply.request.method === "HEAD") {
    response.end();
    return;
  }
  response.write(`retry: ${reconnectMs}\n\n`);
  const keepAlive = setInterval(() => {
    if (!response.writableNeedDrain) response.write(": keep-alive\n\n");
  }, keepAliveMs);
  const unwatch = keys.watch(reply.request, () => {
    leaving.abort();
    // Unsent events are not for this reader any more.
    if (response.writableNeedDrain) response.destroy();
  });
  // Text is not kept for a slow reader: the trace has it once the call has ended.
  const endText = withText
    ? runs.followText(run, (piece) => {
        if (!response.writableNeedDrain && !leaving.signal.aborted) response.write(textFrame(piece));
      })
    : undefined;
  try {
    // A reader cannot have seen events that do not exist yet.
    for await (const events of runs.follow(run, Math.min(after, run.lastEvent), leaving.signal)) {
      if (leaving.signal.aborted) break;
      const isTaken = response.write(events.map(({ frame }) => frame).join(""));
      if (!isTaken) await untilDrained(response);
    }
  } catch {
    // The reader reconnects with the id of its last event. Either the database is unavailable, or `follow` has logged
    // the error.
  } finally {
    endText?.();
    unwatch();
    clearInterval(keepAlive);
    response.end();
  }
}

function textFrame({ step, callId, kind, text, offset }: TextPiece): string {
  const data: RunText = { step, call_id: callId, kind, text, ...(offset !== undefined && { offset }) };
  return `event: text\ndata: ${JSON.stringify(data)}\n\n`;
}
