import { createHash, randomBytes } from "node:crypto";
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import type { Answer, GantryNode } from "./gantry.ts";

export const callback = "http://127.0.0.1:3334/callback";
const consoleAddress = "/console/api/authorization";

type Stored<Name extends "clientInformation" | "tokens"> = Awaited<ReturnType<OAuthClientProvider[Name]>>;

/** What an MCP client keeps between requests. The browser is the test: it reads `sentTo`. */
export function appMemory(changes: Partial<OAuthClientProvider> = {}) {
  const memory = {
    client: undefined as Stored<"clientInformation">,
    tokens: undefined as Stored<"tokens">,
    sentTo: [] as URL[],
    verifier: "",
    discovered: undefined as Awaited<ReturnType<NonNullable<OAuthClientProvider["discoveryState"]>>>,
  };
  const provider: OAuthClientProvider = {
    redirectUrl: callback,
    clientMetadata: { client_name: "Test app", redirect_uris: [callback], token_endpoint_auth_method: "none" },
    state: () => "state-1",
    clientInformation: () => memory.client,
    saveClientInformation: (client) => {
      memory.client = client;
    },
    tokens: () => memory.tokens,
    saveTokens: (tokens) => {
      memory.tokens = tokens;
    },
    redirectToAuthorization: (url) => {
      memory.sentTo.push(url);
    },
    saveCodeVerifier: (verifier) => {
      memory.verifier = verifier;
    },
    codeVerifier: () => memory.verifier,
    saveDiscoveryState: (state) => {
      memory.discovered = state;
    },
    discoveryState: () => memory.discovered,
    invalidateCredentials: () => {
      memory.tokens = undefined;
    },
    ...changes,
  };
  return Object.assign(memory, { provider });
}

export function mcpClientOf(gantry: GantryNode, authProvider: OAuthClientProvider) {
  const transport = new StreamableHTTPClientTransport(new URL(`${gantry.url}/mcp`), { authProvider });
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: "legacy" }, capabilities: {} },
  );
  return { client, transport };
}

/** A person who is signed in to the console in a browser. */
export async function personOf(gantry: GantryNode, key: string) {
  const signedIn = await gantry.call("POST", "/console/api/session", { key: "", json: { key } });
  const cookie = signedIn.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const headers = { cookie, "x-gantry-console": signedIn.body.username };
  const person = {
    headers,
    /** Follows the app's link, and returns the request that the consent page shows. */
    async follow(link: URL): Promise<string> {
      const answer = await fetch(link, { redirect: "manual" });
      const target = new URL(answer.headers.get("location") ?? "", link);
      expect([answer.status, target.pathname]).toEqual([302, "/console/authorize"]);
      return target.searchParams.get("request") ?? "";
    },
    read: (request: string): Promise<Answer> =>
      gantry.call("GET", `${consoleAddress}?${new URLSearchParams({ request })}`, { key: "", headers }),
    decide: (request: string, decision: object): Promise<Answer> =>
      gantry.call("POST", consoleAddress, { key: "", headers, json: { request, ...decision } }),
    /** Returns the address to which the browser goes then. */
    async allow(link: URL, wanted: object = { models: ["gantry/text"] }): Promise<URL> {
      const decided = await person.decide(await person.follow(link), { allow: true, ...wanted });
      expect(decided.status, decided.text).toBe(200);
      return new URL(decided.body.redirect_to);
    },
  };
  return person;
}

export type Person = Awaited<ReturnType<typeof personOf>>;

export const post = (gantry: GantryNode, path: string, fields: Record<string, string>, headers = {}): Promise<Answer> =>
  fetch(`${gantry.url}${path}`, { method: "POST", body: new URLSearchParams(fields), headers }).then(readAnswer);

async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

export async function registerApp(gantry: GantryNode, metadata: object = {}): Promise<Answer> {
  const json = { client_name: "Raw app", redirect_uris: [callback], token_endpoint_auth_method: "none", ...metadata };
  return gantry.call("POST", "/oauth/register", { key: "", json });
}

/** An app that speaks the protocol by hand, so that a test can break each of its rules. */
export async function rawApp(gantry: GantryNode, metadata: object = {}) {
  const registered = await registerApp(gantry, metadata);
  expect(registered.status, registered.text).toBe(201);
  const { client_id } = registered.body;
  const verifier = randomBytes(32).toString("base64url");
  const asked = {
    response_type: "code",
    client_id,
    redirect_uri: callback,
    state: "s1",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  const token = (fields: Record<string, string>, headers = {}) => post(gantry, "/oauth/token", fields, headers);
  return {
    clientId: client_id as string,
    verifier,
    asked,
    link(changes: Record<string, string | undefined> = {}): URL {
      const url = new URL("/oauth/authorize", gantry.url);
      for (const [name, value] of Object.entries({ ...asked, ...changes })) {
        if (value !== undefined) url.searchParams.set(name, value);
      }
      return url;
    },
    exchange: (code: string, changes: Record<string, string> = {}, headers = {}): Promise<Answer> =>
      token(
        {
          grant_type: "authorization_code",
          code,
          redirect_uri: callback,
          client_id,
          code_verifier: verifier,
          ...changes,
        },
        headers,
      ),
    refresh: (refresh_token: string, changes: Record<string, string> = {}): Promise<Answer> =>
      token({ grant_type: "refresh_token", refresh_token, client_id, ...changes }),
    revoke: (value: string, changes: Record<string, string> = {}): Promise<Answer> =>
      post(gantry, "/oauth/revoke", { token: value, client_id, ...changes }),
  };
}

export type RawApp = Awaited<ReturnType<typeof rawApp>>;

export const codeIn = (url: URL): string => url.searchParams.get("code") ?? "";

/** Whether an access token works at /mcp. */
export async function statusAtMcp(gantry: GantryNode, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, accept: "application/json, text/event-stream" };
  const json = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  return (await gantry.call("POST", "/mcp", { key: "", headers, json })).status;
}
