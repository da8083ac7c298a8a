import { errorTable } from "@gantry/wire";
import { errorBody } from "../../../kernel/error-body.ts";
import { Fault } from "../../../kernel/errors.ts";
import { isOutputOf, linkSecondsOf } from "../../files/index.ts";
import type { StoredIssue, StoredOutput } from "../prediction.ts";
import type { EndedPrediction } from "../store.ts";

/** A prediction in the results of the asynchronous routes and in webhooks. */
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

/** Creates a download link for an `s3://` address; undefined if it is not in the bucket of this server. */
export type LinkOf = (s3Path: string, base: string) => Promise<unknown>;

export async function resultItem(
  result: Omit<EndedPrediction, "endedAt">,
  base: string,
  linkOf: LinkOf,
): Promise<ResultItem> {
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

/** Links to the files of this prediction, by output field. The files of a list are `field.0`, `field.1`, … */
export async function fileLinks(
  id: string,
  output: StoredOutput,
  base: string,
  linkOf: LinkOf,
): Promise<Record<string, unknown>> {
  const links: Record<string, unknown> = {};
  const add = async (field: string, value: unknown): Promise<void> => {
    const link = typeof value === "string" && isOutputOf(id, value) ? await linkOf(value, base) : undefined;
    if (link !== undefined) links[field] = link;
  };
  for (const [field, value] of Object.entries(output)) {
    await add(field, value);
    if (!Array.isArray(value)) continue;
    for (const [index, entry] of value.slice(0, mostListedLinks).entries()) await add(`${field}.${index}`, entry);
  }
  return links;
}

/** No list of files is longer. */
const mostListedLinks = 100;

/** The `s3://` address of a link. No field has a dot in its name. */
export function addressOfLink(output: Readonly<Record<string, unknown>>, key: string): string {
  const [field = "", index] = key.split(".");
  const value = output[field];
  return String(Array.isArray(value) ? value[Number(index)] : value);
}

export function issuesToStore({ issues: [first, ...rest], type, retryable }: Fault): StoredIssue[] {
  return [retryable === errorTable[type].retryable ? first : { ...first, retryable }, ...rest];
}

/** The fault of a failed prediction. */
export function storedFault(error: readonly StoredIssue[] | null): Fault | undefined {
  const [stored, ...rest] = error ?? [];
  if (!stored) return undefined;
  const { retryable, ...first } = stored;
  return new Fault([first, ...rest], retryable === undefined ? {} : { retryable });
}

/** The links of a first attempt, made at once, are not looked at. */
const freshMs = 30_000;

/** The part of a webhook's payload that has links. */
interface PayloadItem {
  response: Record<string, unknown>;
  files: Record<string, { url: string }>;
}

/**
 * Replaces old links in the payload of a webhook, so that the receiver of a late retry can still fetch the files. Links keep
 * their origin unless the operator has set a public URL.
 */
export async function renewLinks(
  { linkOf, publicUrl }: { linkOf: LinkOf; publicUrl: string | undefined },
  payload: string,
  ageMs: number,
): Promise<string> {
  if (ageMs < freshMs) return payload;
  const item: PayloadItem = JSON.parse(payload);
  // Others would expire soon, or have expired.
  const isYoung = ({ url }: { url: string }) => ageMs < (linkSecondsOf(url) * 1000) / 2;
  if (Object.values(item.files ?? {}).every(isYoung)) return payload;
  const links = Object.entries(item.files).map(async ([field, link]) => {
    const base = publicUrl ?? new URL(link.url).origin;
    // A file that no longer exists must not keep the webhook from being sent.
    return [field, await linkOf(addressOfLink(item.response, field), base).catch(() => link)];
  });
  return JSON.stringify({ ...item, files: Object.fromEntries(await Promise.all(links)) });
}
