import { errorBody } from "../../../kernel/error-body.ts";
import type { StoredOutput } from "../prediction.ts";
import { type StoredIssue, storedFault } from "./stored-fault.ts";

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
