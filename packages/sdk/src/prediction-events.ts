import { createTranscript } from "@gantry/wire/transcript";
import { connectionError } from "./errors.ts";
import type { StreamEvent } from "./prediction-records.ts";
import { errorFrom } from "./read-error.ts";

/** What a line of a stream says; what is none is a fault of the connection, whose answer has the `headers`. */
export function eventOf(text: string, headers?: Headers): StreamEvent {
  try {
    const event: unknown = JSON.parse(text);
    const { output_data = {} } = Object(event) as StreamEvent;
    if (typeof event === "object" && event !== null && typeof output_data === "object" && output_data !== null) {
      return event;
    }
  } catch {
    // Told below.
  }
  throw connectionError(`The stream brought what is no event: ${text.slice(0, 100)}`, { headers });
}

/** An error, or the end: after it nothing comes. Output that has nothing in it is still output, and tells of its files. */
export function isLast({ detail, output_data, files }: StreamEvent): boolean {
  if (detail !== undefined) return true;
  return output_data !== undefined && files === undefined && Object.keys(output_data).length === 0;
}

/** Output that is not streamed comes whole, in one event, with its files; fragments of text do not. */
function isWhole({ output_data = {}, files }: StreamEvent): boolean {
  return files !== undefined || !Object.values(output_data).every(isListOfTexts);
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** The text in an event of a stream; empty where it has none, as in output that comes whole. */
export function textOf(event: StreamEvent): string {
  return isWhole(event)
    ? ""
    : Object.values(event.output_data ?? {})
        .flat()
        .join("");
}

/** The text after an event, where `before` was the one until then: a run that began again is told from its beginning. */
export function textSoFar(before: string, event: StreamEvent): string {
  return (event.restarted ? "" : before) + textOf(event);
}

/** The event itself, unless it says that the prediction failed. */
export function unlessFailed(event: StreamEvent, headers: Headers): StreamEvent {
  if (event.detail === undefined) return event;
  throw errorFrom({ status: event.status ?? 500, headers }, event);
}

export function cutShort(headers: Headers): Error {
  return connectionError("The stream ended before its last event", { headers });
}

/**
 * Leaves out what a reader has from an earlier connection. The service tells a prediction from its beginning each time, may
 * merge fragments in another way, and may have run it again meanwhile, so texts are compared.
 */
export function createReplayFilter() {
  const transcript = createTranscript();
  let isAcknowledged = false;
  let hasWhole = false;

  /** For one connection: what of an event is new. */
  return function startOver(): (event: StreamEvent) => Generator<StreamEvent> {
    transcript.restart();

    return function* newOf(event) {
      if (isLast(event)) {
        const told = transcript.finish();
        if (told) yield { ...told, status: 200 };
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
        const told = transcript.append(Object.entries(event.output_data).map(joined));
        if (told) yield { ...fragments, ...told };
      }
    };
  };
}

function joined([field, fragments]: [string, unknown]): [string, string] {
  return [field, (fragments as string[]).join("")];
}
