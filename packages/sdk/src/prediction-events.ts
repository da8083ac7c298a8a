import { connectionError } from "./errors.ts";
import type { StreamEvent } from "./prediction-records.ts";
import { errorFrom } from "./read-error.ts";

/** What a line of a stream says; what is none is a fault of the connection. */
export function eventOf(text: string): StreamEvent {
  try {
    const event: unknown = JSON.parse(text);
    const { output_data = {} } = Object(event) as StreamEvent;
    if (typeof event === "object" && event !== null && typeof output_data === "object" && output_data !== null) {
      return event;
    }
  } catch {
    // Told below.
  }
  throw connectionError(`The stream brought what is no event: ${text.slice(0, 100)}`);
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

/** The event itself, unless it says that the prediction failed. */
export function unlessFailed(event: StreamEvent, headers: Headers): StreamEvent {
  if (event.detail === undefined) return event;
  throw errorFrom({ status: event.status ?? 500, headers }, event);
}

export function cutShort(): Error {
  return connectionError("The stream ended before its last event");
}

/**
 * Leaves out what a reader has from an earlier connection. The service tells a prediction from its beginning each time,
 * and may merge fragments in another way, so texts are told apart by their length.
 */
export function createReplayFilter() {
  const given = new Map<string, number>();
  let isAcknowledged = false;
  let hasWhole = false;

  /** For one connection: the event, what is new of it, or nothing. */
  return function startOver(): (event: StreamEvent) => StreamEvent | undefined {
    const seen = new Map<string, number>();

    function newPart(field: string, text: string): string {
      const from = seen.get(field) ?? 0;
      const known = given.get(field) ?? 0;
      seen.set(field, from + text.length);
      given.set(field, Math.max(known, from + text.length));
      return text.slice(Math.max(0, known - from));
    }

    return (event) => {
      if (isLast(event)) return event;
      if (event.output_data === undefined) {
        const isNew = !isAcknowledged;
        isAcknowledged = true;
        return isNew ? event : undefined;
      }
      if (isWhole(event)) {
        const isNew = !hasWhole;
        hasWhole = true;
        return isNew ? event : undefined;
      }
      const fields = Object.entries(event.output_data);
      const parts = fields.map(([field, value]) => [field, newPart(field, (value as string[]).join(""))] as const);
      const news = parts.filter(([, part]) => part !== "").map(([field, part]) => [field, [part]]);
      return news.length === 0 ? undefined : { ...event, output_data: Object.fromEntries(news) };
    };
  };
}
