import { type CreateKeyBody, GantryError, type GantryIssue } from "@gantry/sdk";
import { fetchAsConsole } from "./fetch-as-console.ts";

/** What an app asks for. */
export interface Authorization {
  client: {
    /** The app chose it. */
    name: string;
    /** Where the browser goes afterwards. */
    host: string;
    kind: "web" | "computer";
  };
  /** Models and agents that the user can call now. */
  models: string[];
  has_more: boolean;
}

export type Decision = { allow: false } | ({ allow: true } & CreateKeyBody);

const path = "/console/api/authorization";

export async function readAuthorization(request: string, signal: AbortSignal): Promise<Authorization> {
  return call<Authorization>(`${path}?${new URLSearchParams({ request })}`, { signal });
}

/** Returns the address with the answer for the app. */
export async function decideAuthorization(request: string, decision: Decision): Promise<string> {
  const body = JSON.stringify({ request, ...decision });
  const headers = { "content-type": "application/json" };
  return (await call<{ redirect_to: string }>(path, { method: "POST", body, headers })).redirect_to;
}

async function call<T>(url: string, init: RequestInit): Promise<T> {
  const response = await fetchAsConsole(url, init);
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body as T;
  const { detail, error } = (body ?? {}) as { detail?: unknown; error?: { message?: string } };
  const issues = Array.isArray(detail) ? detail.map(issueOf) : [];
  const text = typeof detail === "string" ? detail : (error?.message ?? issues[0]?.message);
  throw new GantryError({
    status: response.status,
    type: issues[0]?.type,
    message: text ?? `The server responded with status ${response.status}`,
    retryable: response.status >= 500,
    requestId: response.headers.get("x-request-id") ?? undefined,
    body,
    issues,
  });
}

const issueOf = ({ msg, ...issue }: { loc: GantryIssue["loc"]; type: string; msg: string }): GantryIssue => ({
  ...issue,
  message: msg,
});
