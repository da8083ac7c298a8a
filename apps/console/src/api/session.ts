import { GantryError, type MeRecord, type SignInWaysRecord, type TeamRole } from "@gantry/sdk";
import { actingTeam, stopActing, stopActingAtNextLoad } from "./acting-team.ts";
import { anyUser, fetchAsConsole, showUser } from "./fetch-as-console.ts";
import { serverEvents } from "./server-events.ts";

export interface Session {
  username: string;
  role: "admin" | "user";
  expires_at: string;
  key: SessionKey;
  /** The page of a trace, with `{trace_id}`, if the operator has set it. */
  trace_url: string | null;
  /** Who is signed in, while `username` is the team for which the tab acts. */
  person?: string;
  teamRole?: TeamRole;
}

/** The key of this session, and its limits. */
export interface SessionKey {
  name: string;
  /** Null: every model that the user may call. */
  models: string[] | null;
  /** Dollars. */
  monthly_limit: number | null;
  daily_limit: number | null;
  tokens_per_minute: number | null;
  /** The tab acts for a team of which the person is a plain member. */
  isPlainMember?: boolean;
}

export const sessionPath = "/console/api/session";

async function ask(path: string, init: RequestInit, as?: string): Promise<Response> {
  const response = await fetchAsConsole(path, init, as).catch(() => undefined);
  if (response?.ok) return response;
  throw await failureOf(response);
}

async function failureOf(response: Response | undefined): Promise<GantryError> {
  return new GantryError({
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
    | { error?: { message?: string }; detail?: string | { msg?: string }[] }
    | undefined;
  const { error, detail } = body ?? {};
  const said = typeof detail === "string" ? detail : detail?.[0]?.msg;
  return error?.message ?? said ?? `The server responded with status ${response.status}`;
}

export async function readSession(): Promise<Session> {
  const session = (await (await ask(sessionPath, { method: "GET" })).json()) as Session;
  showUser(session.username);
  return forTeam(session);
}

/** Pages show what the team owns. */
let isTeamShown = false;

/** The session as all pages see it. A person who has left the team is itself again, from the next load on. */
export async function forTeam(session: Session): Promise<Session> {
  const team = actingTeam();
  if (team === undefined) return session;
  const response = await fetchAsConsole("/api/v2/me");
  if (response.status === 403 || response.status === 404) {
    if (!isTeamShown) {
      stopActing();
      return session;
    }
    // What the page shows stays the team's until it is reloaded.
    stopActingAtNextLoad();
    serverEvents.set({ kind: "team-left", team });
  }
  if (!response.ok) throw await failureOf(response);
  isTeamShown = true;
  const { username, team_role: teamRole } = (await response.json()) as MeRecord;
  const key = { ...session.key, isPlainMember: teamRole === "member" };
  return { ...session, username, role: "user", key, person: session.username, ...(teamRole && { teamRole }) };
}

/** Who is signed in in this browser, without changing what the page shows. */
export async function peekSession(): Promise<Session> {
  return (await ask(sessionPath, { method: "GET" }, anyUser)).json() as Promise<Session>;
}

/** An API key, the token of a one-time link, or a username and a password. */
export type Credential = { key: string } | { token: string } | { username: string; password: string };

/** The caller decides whether the page switches to the new user. */
export function signIn(credential: Credential): Promise<Session> {
  return post(sessionPath, credential);
}

/** With the token of a reset link. Signs in. */
export function resetPassword(wanted: { token: string; password: string }): Promise<Session> {
  return post("/console/api/password-reset", wanted);
}

async function post(path: string, body: object): Promise<Session> {
  const headers = { "content-type": "application/json" };
  const answer = await ask(path, { method: "POST", body: JSON.stringify(body), headers }, anyUser);
  return answer.json() as Promise<Session>;
}

export async function readSignInWays(): Promise<SignInWaysRecord> {
  return (await ask("/console/api/sign-in", { method: "GET" }, anyUser)).json() as Promise<SignInWaysRecord>;
}

/** Returns where to sign out at the OpenID provider, if the session was opened there. */
export async function signOut(): Promise<string | undefined> {
  const answer = await ask(sessionPath, { method: "DELETE" });
  showUser(undefined);
  stopActing();
  if (answer.status === 204) return undefined;
  return ((await answer.json()) as { sign_out_url: string }).sign_out_url;
}
