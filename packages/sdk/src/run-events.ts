import type { RunEventData } from "@gantry/wire";
import { at } from "./address.ts";
import { connectionError } from "./errors.ts";
import { readEvents } from "./events.ts";
import { resuming } from "./resume.ts";
import type { Transport } from "./transport.ts";

/** A service may send further ones. `id` counts from 1 without a gap. `completed` and `error` are last. */
export type RunEvent = {
  [Type in keyof RunEventData]: { id: number; type: Type; data: RunEventData[Type] };
}[keyof RunEventData];

export interface FollowOptions {
  /** The id of the last event that is known: what follows is told. 0 by default, which is all. */
  after?: number | undefined;
  /**
   * Connections without anything new, in a row, before it is given up; by default it is given up when the service is away
   * for two minutes.
   */
  tries?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** From the service's log: each event once and in order, over as many connections as it takes. */
export function runEvents({ open }: Transport, runId: string, options: FollowOptions = {}): AsyncGenerator<RunEvent> {
  const { after = 0, tries, signal } = options;
  let last = after;
  let isOver = false;

  async function* connect(opened: () => void): AsyncGenerator<RunEvent> {
    const headers = { accept: "text/event-stream", ...(last > 0 && { "last-event-id": String(last) }) };
    const to = at("GET /v1/runs/{run_id}/events", { run_id: runId });
    const { status, lines } = await open({ ...to, headers, signal, retries: 0 });
    opened();
    // Nothing follows, now or ever.
    isOver = status === 204;
    for await (const { id, name, data } of readEvents(lines)) {
      const number = Number(id);
      if (!Number.isSafeInteger(number)) throw connectionError("The events of the run have no numbers");
      if (number <= last) continue;
      const event = { id: number, type: name, data: dataOf(data) } as RunEvent;
      last = number;
      yield event;
    }
  }

  return resuming(connect, {
    tries,
    signal,
    isLast: ({ type }) => type === "completed" || type === "error",
    isOver: () => isOver,
    cutShort: () => connectionError("The events ended before the run did"),
  });
}

function dataOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw connectionError(`An event of the run cannot be read: ${text.slice(0, 100)}`);
  }
}
