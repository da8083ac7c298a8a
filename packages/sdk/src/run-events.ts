import type { RunEventData, RunText } from "@gantry/wire";
import { at } from "./address.ts";
import { connectionError } from "./errors.ts";
import { readEvents } from "./events.ts";
import { resuming } from "./resume.ts";
import type { Transport } from "./transport.ts";

/** The service may add types. `id` counts from 1 without gaps. `completed` and `error` are last. */
export type RunEvent = {
  [Type in keyof RunEventData]: { id: number; type: Type; data: RunEventData[Type] };
}[keyof RunEventData];

/** Text of a model call as it is written. Text may be missing: after a lost connection it is not sent again. */
export interface RunTextEvent {
  id: null;
  type: "text";
  data: RunText;
}

export interface FollowTextOptions extends FollowOptions {
  text: true;
}

export interface FollowOptions {
  /** The id of the last event that you have. Default: 0, all events. */
  after?: number | undefined;
  /**
   * Connections in a row without new events before giving up. Default: give up if the service is away for two minutes.
   */
  tries?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Each event once and in order, across connections. */
export function runEvents(
  { open }: Transport,
  runId: string,
  options: FollowOptions | FollowTextOptions = {},
): AsyncGenerator<RunEvent | RunTextEvent> {
  const { after = 0, tries, signal } = options;
  const query = "text" in options && options.text ? { text: true } : {};
  let last = after;
  let isOver = false;

  async function* connect(opened: () => void): AsyncGenerator<RunEvent | RunTextEvent> {
    const headers = { accept: "text/event-stream", ...(last > 0 && { "last-event-id": String(last) }) };
    const to = at("GET /v1/runs/{run_id}/events", { run_id: runId });
    const { status, lines } = await open({ ...to, query, headers, signal, retries: 0 });
    opened();
    // The run has ended and has no more events.
    isOver = status === 204;
    for await (const { id, name, data } of readEvents(lines)) {
      if (name === "text") {
        yield { id: null, type: name, data: dataOf(data) as RunText };
        continue;
      }
      const number = Number(id);
      if (!Number.isSafeInteger(number)) throw connectionError("An event of the run has no id");
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
    throw connectionError(`Invalid event of the run: ${text.slice(0, 100)}`);
  }
}
