import { createTranscript } from "@gantry/wire/transcript";
import { connectionError } from "./errors.ts";
import type { StreamEvent } from "./prediction-records.ts";
import { errorFrom } from "./read-error.ts";

/** Parses a line of a stream; anything that is not an event is a connection error. */
export function eventOf(text: string, headers?: Headers): StreamEvent {
  try {
    const event: unknown = JSON.parse(text);
    const { output_data = {} } = Object(event) as StreamEvent;
    if (typeof event === "object" && event !== null && typeof output_data === "object" && output_data !== null) {
      return event;
    }
  } catch {
    // Reported below.
  }
  throw connectionError(`The stream has an invalid event: ${text.slice(0, 100)}`, { headers });
}

/** Whether this is the last event: an error, or an empty output without files. */
export function isLast({ detail, output_data, files }: StreamEvent): boolean {
  if (detail !== undefined) return true;
  return output_data !== undefined && files === undefined && Object.keys(output_data).length === 0;
}

/** Output that is not streamed comes in one event with its files; fragments have no files. */
function isWhole({ output_data = {}, files }: StreamEvent): boolean {
  return files !== undefined || !Object.values(output_data).every(isListOfTexts);
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** The text in an event of a stream; empty for output that is not streamed. */
export function textOf(event: StreamEvent): string {
  return isWhole(event)
    ? ""
    : Object.values(event.output_data ?? {})
        .flat()
        .join("");
}

/** The text after an event, given the text `before`. A restarted prediction sends its text from the beginning. */
export function textSoFar(before: string, event: StreamEvent): string {
  return (event.restarted ? "" : before) + textOf(event);
}

/** Returns the event, or throws if the prediction failed. */
export function unlessFailed(event: StreamEvent, headers: Headers): StreamEvent {
  if (event.detail === undefined) return event;
  throw errorFrom({ status: event.status ?? 500, headers }, event);
}

export function cutShort(headers: Headers): Error {
  return connectionError("The stream ended before its last event", { headers });
}

/**
 * Filters events that the reader has from an earlier connection. The service sends a prediction from the beginning each
 * time, may merge fragments differently, and may have restarted it, so texts are compared.
 */
export function createReplayFilter() {
  const transcript = createTranscript();
  let isAcknowledged = false;
  let hasWhole = false;

  return function startOver(): (event: StreamEvent) => Generator<StreamEvent> {
    transcript.restart();

    return function* newOf(event) {
      if (isLast(event)) {
        const update = transcript.finish();
        if (update) yield { ...update, status: 200 };
        yield event;
      } else if (event.output_data === undefined) {
        if (!isAcknowledged) yield event;
        isAcknowledged = true;
      } else if (isWhole(event)) {
        if (!hasWhole) yield event;
        hasWhole = true;
      } else {
        const { restarted, ...fragments } = event;
        if (restarted) transcript.restart();
        const update = transcript.append(Object.entries(event.output_data).map(joined));
        if (update) yield { ...fragments, ...update };
      }
    };
  };
}

function joined([field, fragments]: [string, unknown]): [string, string] {
  return [field, (fragments as string[]).join("")];
}
