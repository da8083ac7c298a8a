import type { FastifyReply } from "fastify";
import type { Run, Runs } from "../../features/runs/index.ts";
import { untilDrained } from "../foundation/until-drained.ts";
import type { StreamKeys } from "./run-stream-keys.ts";

const keepAliveMs = 15_000;
const reconnectMs = 2_000;

/**
 * The events of a run as Server-Sent Events, from the log: what was, then what comes, and the end of the stream with the
 * end of the run. A reader that leaves stops nothing; one that comes back with the id of the last event misses nothing.
 * One that asks for the headers alone (HEAD) is not kept waiting for events.
 *
 *   open ──the run ends──► its last event, end
 *     ├──the reader leaves──► left
 *     └──its key works no longer, the node goes down, the database is away──► end, without a last event: who comes back is
 *        told how things stand
 */
export async function streamRunEvents(
  { runs, keys }: { runs: Runs; keys: StreamKeys },
  run: Run,
  after: number,
  reply: FastifyReply,
): Promise<void> {
  const isOver = run.status === "done" || run.status === "error";
  if (isOver && after >= run.lastEvent) {
    // Tells an EventSource not to come back.
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
    // What such a reader has not taken by now is not for it any more.
    if (response.writableNeedDrain) response.destroy();
  });
  try {
    // What has not happened yet cannot have been seen.
    for await (const events of runs.follow(run, Math.min(after, run.lastEvent), leaving.signal)) {
      if (leaving.signal.aborted) break;
      const isTaken = response.write(events.map(({ frame }) => frame).join(""));
      if (!isTaken) await untilDrained(response);
    }
  } catch {
    // The reader comes back by itself, with the id of the last event that it got: the database is away, or something is
    // wrong that `follow` has logged.
  } finally {
    unwatch();
    clearInterval(keepAlive);
    response.end();
  }
}
