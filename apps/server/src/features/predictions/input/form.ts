import type { Readable } from "node:stream";
import type { ValueProblem } from "@gantry/wire";
import type { Issue } from "../../../kernel/errors.ts";
import type { Spooled } from "./spool.ts";

/**
 * One file of a form: in memory, as a stream, or in the spool. Its name and declared type are not trusted. The receiver owns
 * the chunks of a stream and frees them.
 */
export interface FormFile {
  name: string;
  filename: string | undefined;
  contentType: string;
  body: Uint8Array | Readable | Spooled;
}

export type FormEntry<T> = { name: string; value: string } | { name: string; file: T; filename: string | undefined };

/** `ctx` describes a body that is not a form. */
export type FormBody<T> =
  | { kind: "form"; entries: FormEntry<T>[] }
  | { kind: "not-multipart"; ctx: Record<string, unknown> };

/**
 * Reads the body of a request. Files are passed to `onFile` one after the other, the next when the promise resolves. If it
 * rejects, reading stops and rejects with the same error.
 */
export type FormReader = <T>(options: {
  onFile(file: FormFile): Promise<T>;
  signal: AbortSignal;
}) => Promise<FormBody<T>>;

/** The reader of the request adds the location. */
export type Problem = ValueProblem;

export type Report = (problem: Problem) => void;

const longestShownInput = 100;

/** Short inputs are echoed to the caller. */
export function issueOf(field: string, { path = [], ...problem }: Problem, text?: string): Issue {
  const isShown = text !== undefined && text.length <= longestShownInput && path.length === 0;
  return { ...problem, loc: ["body", field, ...path], ...(isShown && { input: text }) };
}
