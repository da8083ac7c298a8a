import { GantryError } from "@gantry/sdk";
import { anyUser, fetchAsConsole, showUser } from "./fetch-as-console.ts";

export interface Session {
  username: string;
  role: "admin" | "user";
  expires_at: string;
  key: SessionKey;
}

/** The key of this session, and its limits. */
export interface SessionKey {
  name: string;
  /** Null: every model that the user may call. */
  models: string[] | null;
  /** Dollars. */
  monthly_limit: number | null;
}

export const sessionPath = "/console/api/session";

async function askSession(init: RequestInit, as?: string): Promise<Response> {
  const response = await fetchAsConsole(sessionPath, init, as).catch(() => undefined);
  if (response?.ok) return response;
  throw new GantryError({
    status: response?.status ?? 0,
    type: response ? undefined : "connection_error",
    message: response ? await messageOf(response) : "No connection",
    retryable: !response || response.status >= 500,
    requestId: response?.headers.get("x-request-id") ?? undefined,
    body: undefined,
  });
}

async function messageOf(response: Response): Promise<string> {
  const body = (await response.json().catch(() => undefined)) as
    | { error?: { message?: string }; detail?: { msg?: string }[] }
    | undefined;
  return body?.error?.message ?? body?.detail?.[0]?.msg ?? `The server responded with status ${response.status}`;
}

export async function readSession(): Promise<Session> {
  const session = (await (await askSession({ method: "GET" })).json()) as Session;
  showUser(session.username);
  return session;
}

/** With an API key or the token of a one-time link. The caller decides whether the page switches to the new user. */
export async function signIn(credential: { key: string } | { token: string }): Promise<Session> {
  const headers = { "content-type": "application/json" };
  const answer = await askSession({ method: "POST", body: JSON.stringify(credential), headers }, anyUser);
  return answer.json() as Promise<Session>;
}

export async function signOut(): Promise<void> {
  await askSession({ method: "DELETE" });
  showUser(undefined);
}
