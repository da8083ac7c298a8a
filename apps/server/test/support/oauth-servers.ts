import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import Provider from "oidc-provider";
import { freePort } from "../../src/engines/database/free-port.ts";

const scopes = ["openid", "offline_access", "tools"];

export interface AuthorizationServer {
  issuer: string;
  provider: Provider;
  /** Requests to the token endpoint by grant type, and to the others by path. */
  asked: string[];
  /** Runs before the server sees a request. True if it has answered. */
  before: (request: IncomingMessage, response: ServerResponse, form: URLSearchParams) => Promise<boolean> | boolean;
  /** Seconds that access tokens last. */
  lifetime: number;
  close(): Promise<void>;
}

/** An OpenID provider with its own sign-in and consent pages. Refresh tokens work once. */
export async function startAuthorizationServer(
  options: { clients?: object[]; hasRegistration?: boolean; port?: number } = {},
): Promise<AuthorizationServer> {
  const port = options.port ?? (await freePort());
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: options.clients ?? [],
    scopes,
    cookies: { keys: ["a key of the test"] },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: options.hasRegistration ?? true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: "tools",
          audience: resource,
          accessTokenTTL: server.lifetime,
          accessTokenFormat: "opaque",
        }),
        useGrantedResource: () => true,
      },
    },
    ttl: { AccessToken: () => server.lifetime, Grant: 3600, Interaction: 600, RefreshToken: 3600, Session: 3600 },
    rotateRefreshToken: true,
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
  });
  const listener = provider.callback();
  const { close } = await listen(port, async (request, response) => {
    const body = await readBody(request);
    const form = new URLSearchParams(body);
    server.asked.push(form.get("grant_type") ?? (request.url ?? "").replace(/\?.*/, ""));
    if (await server.before(request, response, form)) return;
    // The library accepts a body that was read already.
    Object.assign(request, { body });
    listener(request, response);
  });
  const server: AuthorizationServer = {
    issuer,
    provider,
    asked: [],
    before: () => false,
    lifetime: 3600,
    close,
  };
  return server;
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

async function listen(port: number, listener: RequestListener): Promise<{ close(): Promise<void> }> {
  const http = createServer(listener).listen(port, "127.0.0.1");
  await once(http, "listening");
  return {
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}

export interface ProtectedServer {
  url: string;
  /** Bearer tokens of the requests. */
  tokens: (string | undefined)[];
  /** The document of RFC 9728. */
  metadata: Record<string, unknown>;
  /** Refuses every token. */
  isClosed: boolean;
  /** Runs before the server looks at a token. */
  before: (token: string | undefined) => Promise<void> | void;
  close(): Promise<void>;
}

/** An MCP server of the official library whose tool says which account the token is for. */
export async function startProtectedServer({ issuer, provider }: AuthorizationServer): Promise<ProtectedServer> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const metadataPath = "/.well-known/oauth-protected-resource/mcp";
  let account = "";
  const handler = createMcpHandler(
    () => {
      const mcp = new McpServer({ name: "protected", version: "1" });
      const name = account;
      mcp.registerTool("whoami", { description: `Tools of ${name}.` }, async () => ({
        content: [{ type: "text", text: `account ${name}` }],
      }));
      return mcp;
    },
    { legacy: "stateless" },
  );
  const server: ProtectedServer = {
    url: `${origin}/mcp`,
    tokens: [],
    metadata: { resource: `${origin}/mcp`, authorization_servers: [issuer], scopes_supported: ["tools"] },
    isClosed: false,
    before: () => {},
    close,
  };
  const { close: closeHttp } = await listen(port, async (request, response) => {
    if (request.url === metadataPath) return void json(response, 200, server.metadata);
    if (!/^\/mcp(\?|$)/.test(request.url ?? "")) return void json(response, 404, {});
    const [, token] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    server.tokens.push(token);
    await server.before(token);
    const known = token === undefined || server.isClosed ? undefined : await provider.AccessToken.find(token);
    if (!known || known.isExpired || known.aud !== server.url) {
      const challenge = `Bearer error="invalid_token", resource_metadata="${origin}${metadataPath}", scope="tools"`;
      return void json(response, 401, {}, { "www-authenticate": challenge });
    }
    account = known.accountId;
    const answer = await handler.fetch(
      new Request(server.url, {
        method: request.method ?? "GET",
        headers: request.headers as Record<string, string>,
        ...(request.method === "POST" && { body: await readBody(request) }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (!answer.body) return void response.end();
    Readable.fromWeb(answer.body as import("node:stream/web").ReadableStream)
      .on("error", () => {})
      .pipe(response);
  });
  async function close() {
    await closeHttp();
    await handler.close();
  }
  return server;
}

function json(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** What a person does on the page of Gantry: reads the question and presses the button. */
export async function returnTo(
  url: string,
): Promise<{ status: number; text: string; headers: Headers; asked: string }> {
  const page = await fetch(url);
  const asked = await page.text();
  const inputs = [...asked.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]+)">/g)];
  if (inputs.length === 0) return { status: page.status, text: asked, headers: page.headers, asked };
  const body = new URLSearchParams(Object.fromEntries(inputs.map(([, name, value]) => [name, value])));
  const answer = await fetch(new URL("?", url), { method: "POST", body });
  return { status: answer.status, text: await answer.text(), headers: answer.headers, asked };
}

/**
 * What a person does in a browser: signs in and consents on the pages of the authorization server. Returns the address of
 * Gantry that the browser is sent to.
 */
export async function signIn(link: string, login: string): Promise<string> {
  const cookies = new Map<string, string>();
  const { origin } = new URL(link);
  let next = { url: link, form: undefined as URLSearchParams | undefined };
  for (let step = 0; step < 20; step++) {
    const answer = await fetch(next.url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(next.form && { method: "POST", body: next.form }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = answer.headers.get("location");
    if (location !== null) {
      await answer.body?.cancel();
      const url = new URL(location, next.url);
      if (url.origin !== origin) return url.href;
      next = { url: url.href, form: undefined };
      continue;
    }
    const page = await answer.text();
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1];
    if (action === undefined || prompt === undefined) throw new Error(`unexpected page (${answer.status}): ${page}`);
    next = { url: new URL(action, next.url).href, form: new URLSearchParams({ prompt, login, password: "any" }) };
  }
  throw new Error("the sign-in does not end");
}
