import { errorTable } from "@gantry/wire";
import { errorBody } from "../../../kernel/error-body.ts";
import { Fault, type Issue } from "../../../kernel/errors.ts";
import { linkSeconds } from "../../files/index.ts";
import type { StoredOutput } from "../prediction.ts";

/** How a result of the asynchronous routes and a webhook write a prediction. */
export interface ResultItem {
  infer_details: {
    status: number;
    user_id: string;
    request_id: string;
    inference_time: number | null;
    stream_details: Record<string, unknown> | null;
  };
  response: Record<string, unknown>;
  files: Record<string, unknown>;
}

export interface EndedResult {
  id: string;
  userId: string;
  status: number;
  inferenceMs: number | null;
  output: StoredOutput | null;
  error: readonly StoredIssue[] | null;
  streamDetails: Record<string, unknown> | null;
}

/** A ready download link for an `s3://` address. */
export type LinkOf = (s3Path: string, base: string) => Promise<unknown>;

export async function resultItem(result: EndedResult, base: string, linkOf: LinkOf): Promise<ResultItem> {
  return {
    infer_details: {
      status: result.status,
      user_id: result.userId,
      request_id: result.id,
      inference_time: result.inferenceMs === null ? null : result.inferenceMs / 1000,
      stream_details: result.streamDetails,
    },
    response: result.output ?? failureBody(result.error, base),
    files: result.output ? await fileLinks(result.id, result.output, base, linkOf) : {},
  };
}

/** While it is not terminal there is nothing to tell but that. */
export function pendingItem(id: string, userId: string): ResultItem {
  return {
    infer_details: { status: 202, user_id: userId, request_id: id, inference_time: null, stream_details: null },
    response: {},
    files: {},
  };
}

export function failureBody(error: readonly StoredIssue[] | null, base: string): Record<string, unknown> {
  const fault = storedFault(error);
  return fault ? errorBody(fault, base) : {};
}

/** The outputs that are files of this very prediction, under their fields. */
export async function fileLinks(
  id: string,
  output: StoredOutput,
  base: string,
  linkOf: LinkOf,
): Promise<Record<string, unknown>> {
  const links: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(output)) {
    if (typeof value === "string" && value.startsWith("s3://") && value.includes(`/outputs/${id}/`)) {
      links[field] = await linkOf(value, base);
    }
  }
  return links;
}

/** An issue as it is kept with an ended prediction. */
export interface StoredIssue extends Issue {
  /** On the first one, where whoever ended it knew better than the table whether a repeat is worth it. */
  retryable?: boolean;
}

export function issuesToStore({ issues: [first, ...rest], type, retryable }: Fault): StoredIssue[] {
  return [retryable === errorTable[type].retryable ? first : { ...first, retryable }, ...rest];
}

/** The fault that a prediction ended with; undefined for one that did not fail. */
export function storedFault(error: readonly StoredIssue[] | null): Fault | undefined {
  const [stored, ...rest] = error ?? [];
  if (!stored) return undefined;
  const { retryable, ...first } = stored;
  return new Fault([first, ...rest], retryable === undefined ? {} : { retryable });
}

/** From then on links would work for too short a time, or do so no longer. */
const renewedAfterMs = (linkSeconds * 1000) / 2;

/** What is read of a result item as a webhook's payload holds it. */
interface ToldItem {
  response: Record<string, string>;
  files: Record<string, { url: string }>;
}

/**
 * The payload of a webhook, with new links to its files where those it was made with are old: a late retry must not send
 * what its receiver cannot fetch. Everything else, and the order, stays. Links carry the address that they had, unless
 * the operator has set one.
 */
export async function renewLinks(
  { linkOf, publicUrl }: { linkOf: LinkOf; publicUrl: string | undefined },
  payload: string,
  ageMs: number,
): Promise<string> {
  if (ageMs < renewedAfterMs) return payload;
  const item: ToldItem = JSON.parse(payload);
  const links = Object.entries(item.files).map(async ([field, link]) => {
    const base = publicUrl ?? new URL(link.url).origin;
    // A file that this server's store does not have any more is no reason not to tell the rest.
    return [field, await linkOf(item.response[field] ?? "", base).catch(() => link)];
  });
  return JSON.stringify({ ...item, files: Object.fromEntries(await Promise.all(links)) });
}
