import { createClient, GantryError } from "@gantry/sdk";

/** The cookie of the session counts only beside this header, which no page of another site can send. */
const ofConsole = { "x-gantry-console": "1" };

const fetchAsConsole: typeof fetch = (input, init) => {
  // A link to a bucket is somebody else's address: it gets nothing of ours.
  const isOwn = new URL(input instanceof Request ? input.url : input, location.href).origin === location.origin;
  if (!isOwn) return fetch(input, init);
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(ofConsole)) headers.set(name, value);
  return fetch(input, { ...init, headers });
};

/** The whole service, as the user that is signed in. */
export const api = createClient({ url: location.origin, fetch: fetchAsConsole });

export interface Session {
  username: string;
  role: "admin" | "user";
  /** Null: until the key itself is revoked. */
  expires_at: string | null;
}

const sessionPath = "/console/api/session";

async function askSession(method: "GET" | "POST" | "DELETE", body?: object): Promise<Response> {
  const response = await fetchAsConsole(sessionPath, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  }).catch(() => undefined);
  if (response?.ok) return response;
  throw new GantryError({
    status: response?.status ?? 0,
    type: response ? "unauthorized" : "connection_error",
    message: response ? await messageOf(response) : "The server does not answer",
    retryable: !response || response.status >= 500,
    requestId: response?.headers.get("x-request-id") ?? undefined,
    body: undefined,
  });
}

async function messageOf(response: Response): Promise<string> {
  const body = (await response.json().catch(() => undefined)) as
    | { error?: { message?: string }; detail?: { msg?: string }[] }
    | undefined;
  return body?.error?.message ?? body?.detail?.[0]?.msg ?? `The server answers ${response.status}`;
}

export async function readSession(): Promise<Session> {
  return (await askSession("GET")).json() as Promise<Session>;
}

/** With an API key, or with the token of a one-time link. */
export async function signIn(credential: { key: string } | { token: string }): Promise<Session> {
  return (await askSession("POST", credential)).json() as Promise<Session>;
}

export async function signOut(): Promise<void> {
  await askSession("DELETE");
}

export const isSignedOut = (error: unknown): boolean => error instanceof GantryError && error.status === 401;
