import { errorTable } from "@gantry/wire";
import type { Fault, Issue } from "./errors.ts";

/** Error format of the model and account APIs. `base` is the URL for links to `/docs/errors`. */
export function errorBody(fault: Fault, base: string): Record<string, unknown> {
  const row = errorTable[fault.type];
  const [first] = fault.issues;
  switch (row.form) {
    case "key":
      return { error: { code: "unauthorized", message: first.msg } };
    case "text":
      return { detail: first.msg, status_code: row.status };
    case "typed":
      return { detail: first.msg, status_code: row.status, type: fault.type };
    case "list":
      return { detail: fault.issues.map((issue) => detailOf(issue, base)) };
  }
}

export function errorHeaders(fault: Fault): Record<string, string> {
  const headers: Record<string, string> = { ...fault.headers };
  if (fault.status !== 401) headers["x-service-retryable"] = String(fault.retryable);
  if (fault.retryAfterSeconds !== undefined)
    headers["retry-after"] = String(Math.max(1, Math.ceil(fault.retryAfterSeconds)));
  return headers;
}

function detailOf(issue: Issue, base: string): Record<string, unknown> {
  return {
    loc: issue.loc,
    msg: issue.msg,
    type: issue.type,
    url: `${base}/docs/errors#${issue.type}`,
    ...(issue.ctx && { ctx: issue.ctx }),
    ...(issue.input !== undefined && { input: issue.input }),
  };
}
