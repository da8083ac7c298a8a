import { randomBytes } from "node:crypto";
import { newId } from "@gantry/wire";
import { z } from "zod";
import type { Client } from "../accounts/index.ts";
import type { ConnectedAppsContext } from "./context.ts";
import { type OAuthRefusal, refusal } from "./oauth-refusal.ts";
import { hostOf, redirectProblem } from "./redirect-uri.rules.ts";
import { hashOfToken } from "./refresh-token.rules.ts";
import type { RegistrationLimit } from "./registration-limit.ts";
import { insertClient } from "./store.ts";

export interface RegisteredClient {
  id: string;
  /** Shown once; undefined for a public client. */
  secret: string | undefined;
  name: string;
  redirectUris: readonly string[];
  authMethod: (typeof authMethods)[number];
  createdAt: Date;
}

export const authMethods = ["none", "client_secret_post", "client_secret_basic"] as const;
const mostUris = 10;
const longestName = 80;
/** Registration needs no key: this bounds what a flood can store until unused clients are deleted after a day. */
const mostAnHour = 600;
const hourMs = 3_600_000;

/** The fields that matter of RFC 7591. Others are ignored. */
const metadata = z.object({
  client_name: z.string().max(1000).optional(),
  redirect_uris: z.array(z.string()).min(1).max(mostUris),
  token_endpoint_auth_method: z.enum(authMethods).default("client_secret_basic"),
  grant_types: z.array(z.string()).default(["authorization_code"]),
  response_types: z.array(z.string()).default(["code"]),
});

/** Anyone may register a client: it can do nothing until a user approves it. */
export async function registerClient(
  { database, clock, registrations }: ConnectedAppsContext & { registrations: RegistrationLimit },
  body: unknown,
  from: Client,
): Promise<RegisteredClient> {
  const wanted = readMetadata(body);
  if (registrations.isReached(from)) throw tooMany();
  const now = clock.now();
  const secret = wanted.token_endpoint_auth_method === "none" ? undefined : randomBytes(32).toString("base64url");
  const client = {
    id: newId("oauthClient"),
    name: readableName(wanted.client_name) || hostOf(wanted.redirect_uris[0] ?? ""),
    redirectUris: [...new Set(wanted.redirect_uris)],
    createdAt: now,
  };
  const stored = { ...client, secretHash: secret === undefined ? null : hashOfToken(secret) };
  const since = new Date(now.getTime() - hourMs);
  if (!(await insertClient(database.sql, stored, { count: mostAnHour, since }))) throw tooMany();
  registrations.count(from);
  return { ...client, secret, authMethod: wanted.token_endpoint_auth_method };
}

function tooMany(): OAuthRefusal {
  return refusal("temporarily_unavailable", "Too many apps registered within an hour. Try again later.");
}

function readMetadata(body: unknown): z.infer<typeof metadata> {
  const read = metadata.safeParse(body);
  if (!read.success) {
    const [issue] = read.error.issues;
    const field = issue?.path.join(".") || "body";
    const code = field.startsWith("redirect_uris") ? "invalid_redirect_uri" : "invalid_client_metadata";
    throw refusal(code, `${field}: ${issue?.message}`);
  }
  for (const uri of read.data.redirect_uris) {
    const problem = redirectProblem(uri);
    if (problem !== undefined) throw refusal("invalid_redirect_uri", `A redirect URI ${problem}`);
  }
  if (!read.data.grant_types.includes("authorization_code") || !read.data.response_types.includes("code")) {
    throw refusal(
      "invalid_client_metadata",
      "Only the authorization code flow is supported: grant_types must contain authorization_code, response_types code.",
    );
  }
  return read.data;
}

/** Without characters that hide or reorder what follows. */
function readableName(name = ""): string {
  const shown = name.replace(/\p{C}/gu, "").replace(/\s+/g, " ").trim();
  return [...shown].slice(0, longestName).join("").trim();
}
