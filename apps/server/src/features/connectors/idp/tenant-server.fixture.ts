import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type Answer, answerAsTenant, type Seen, type TenantState, tenantState } from "./tenant-routes.fixture.ts";

/** What one of the next requests gets instead of the usual: an answer, or the connection cut. */
export type Scripted = Answer | "cut" | "silence";

export interface TenantServer {
  domain: string;
  seen: Seen[];
  state: TenantState;
  /** Taken from the front, one a request; when empty, the tenant behaves. */
  script: Scripted[];
  /** How long each answer takes. */
  delayMs: number;
  /** The most requests that were under way at one moment. */
  mostAtOnce: number;
  /** Requests whose sender went away before the answer. */
  abandoned: number;
  /** A token as the tenant issues it: scopes and expiry can be read from it. */
  issue(scopes: readonly string[], expiresInSeconds?: number): string;
  close(): Promise<void>;
}

/**
 * A local HTTPS server that behaves as the tenant's management API does: token and scopes, status codes, error bodies,
 * rate-limit headers, paging. Written from the notes on the real API and not from the table of actions, so that the two
 * check each other.
 */
export async function serveTenant(tls: { key: string; cert: string }): Promise<TenantServer> {
  let atOnce = 0;
  let issued = 0;
  const tenant: TenantServer = {
    domain: "",
    seen: [],
    state: tenantState(),
    script: [],
    delayMs: 0,
    mostAtOnce: 0,
    abandoned: 0,
    issue(scopes, expiresInSeconds = 86_400) {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const exp = Math.floor(Date.now() / 1000) + expiresInSeconds;
      const token = `${part({ alg: "RS256", typ: "JWT" })}.${part({ scope: scopes.join(" "), exp, jti: issued++ })}.c2lnbmF0dXJl`;
      tenant.state.tokens.set(token, scopes);
      return token;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    tenant.mostAtOnce = Math.max(tenant.mostAtOnce, ++atOnce);
    response.on("close", () => {
      atOnce--;
      if (!response.writableFinished) tenant.abandoned++;
    });
    const raw = await text(request);
    const [path = "", query = ""] = (request.url ?? "").split("?");
    const seen: Seen = {
      method: request.method ?? "",
      path,
      query: [...new URLSearchParams(query)],
      body: raw === "" ? undefined : JSON.parse(raw),
      authorization: request.headers.authorization ?? "",
      contentType: request.headers["content-type"],
    };
    tenant.seen.push(seen);
    if (tenant.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, tenant.delayMs));
    const scripted = tenant.script.shift();
    if (scripted === "silence") return;
    if (scripted === "cut") return void response.destroy();
    send(response, scripted ?? answerAsTenant(tenant.state, seen));
  };
  const server = https.createServer(tls, (request, response) => {
    handle(request, response).catch((error) => response.destroy(error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  tenant.domain = `localhost:${(server.address() as AddressInfo).port}`;
  return tenant;
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, {
    "content-type": typeof body === "string" ? "text/html" : "application/json; charset=utf-8",
    "x-ratelimit-limit": "50",
    "x-ratelimit-remaining": "40",
    "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + 1),
    ...headers,
  });
  response.end(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
}
