import type { Readable } from "node:stream";
import type { ValueProblem } from "@gantry/wire";
import type { Issue } from "../../../kernel/errors.ts";
import type { Spooled } from "./spool.ts";

/**
 * One file of a form, in memory, as a stream, or in the spool already; what it is called and said to be decides nothing. The
 * chunks of a stream are the receiver's, who frees them.
 */
export interface FormFile {
  name: string;
  filename: string | undefined;
  contentType: string;
  body: Uint8Array | Readable | Spooled;
}

export type FormEntry<T> = { name: string; value: string } | { name: string; file: T; filename: string | undefined };

/** `ctx` is what is told of a body that is no form, beside the fields that it lacks. */
export type FormBody<T> =
  | { kind: "form"; entries: FormEntry<T>[] }
  | { kind: "not-multipart"; ctx: Record<string, unknown> };

/**
 * How the body of the request is read; the HTTP side brings it. Files are handed to `onFile` one after the other, the
 * next when the promise resolves; when it rejects, the reading stops and rejects with the same error.
 */
export type FormReader = <T>(options: {
  onFile(file: FormFile): Promise<T>;
  signal: AbortSignal;
}) => Promise<FormBody<T>>;

/** Where the value stands in the request is added by who reads it. */
export type Problem = ValueProblem;

export type Report = (problem: Problem) => void;

const longestShownInput = 100;

/** Short texts are shown back to the caller; long ones would only blow up the answer. */
export function issueOf(field: string, { path = [], ...problem }: Problem, text?: string): Issue {
  const isShown = text !== undefined && text.length <= longestShownInput && path.length === 0;
  return { ...problem, loc: ["body", field, ...path], ...(isShown && { input: text }) };
}
