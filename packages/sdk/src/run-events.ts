import type { ConfirmationRecord, RunErrorType } from "@gantry/wire";
import { segment } from "./address.ts";
import { connectionError } from "./errors.ts";
import { readEvents } from "./events.ts";
import { resuming } from "./resume.ts";
import type { Transport } from "./transport.ts";

/** Which call an event is of: those of one call have the same. Runs of before it was told have none. */
interface OfCall {
  call_id?: string;
}

/** What the events of a run tell, by their names. A service may send further ones. */
export interface RunEventData {
  planning: { message: string };
  reasoning: { message: string };
  tool_call: { tool: string; arguments: Record<string, unknown> } & OfCall;
  /** Calls are made side by side: their results come as they end, not in the order of the calls. */
  tool_result: { tool: string; result: string } & OfCall;
  /** The run waits until this is approved or denied. */
  confirmation_required: {
    confirmation_id: string;
    tool: string;
    arguments: Record<string, unknown>;
    expires_at: string;
    details?: Record<string, unknown>;
  } & OfCall;
  confirmation_resolved: {
    confirmation_id: string;
    approved: boolean;
    status: ConfirmationRecord["status"];
    tool: string;
    reason: string | null;
  };
  compressed: { message: string; [more: string]: unknown };
  completed: { output: Record<string, unknown> };
  error: { type: RunErrorType; message: string };
}

/** `id` counts from 1 without a gap. `completed` and `error` are last. */
export type RunEvent = {
  [Type in keyof RunEventData]: { id: number; type: Type; data: RunEventData[Type] };
}[keyof RunEventData];

/** In the list the last event tells how it went, in place of the output. */
interface ListedData extends Omit<RunEventData, "completed" | "error"> {
  completed: { message: string };
  error: { error: RunEventData["error"] };
}

/** An event as the list shows it: its fields beside its name and time. */
export type RunEventEntry = {
  [Type in keyof ListedData]: { type: Type; timestamp: string } & ListedData[Type];
}[keyof ListedData];

export interface RunEventList {
  events: RunEventEntry[];
  /** There are more than one answer holds: those after this one. */
  next_after?: number;
}

export interface FollowOptions {
  /** The id of the last event that is known: what follows is told. 0 by default, which is all. */
  after?: number;
  /** Connections without anything new, in a row, before it is given up; by default it is given up when the service is away for two minutes. */
  tries?: number;
  signal?: AbortSignal | undefined;
}

/** From the service's log: each event once and in order, over as many connections as it takes. */
export function runEvents({ open }: Transport, runId: string, options: FollowOptions = {}): AsyncGenerator<RunEvent> {
  const { after = 0, tries, signal } = options;
  let last = after;
  let isOver = false;

  async function* connect(opened: () => void): AsyncGenerator<RunEvent> {
    const headers = { accept: "text/event-stream", ...(last > 0 && { "last-event-id": String(last) }) };
    const path = `/v1/runs/${segment(runId)}/events`;
    const { status, lines } = await open({ method: "GET", path, headers, signal, retries: 0 });
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
