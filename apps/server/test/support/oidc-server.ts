import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import Provider from "oidc-provider";
import { freePort } from "../../src/engines/database/free-port.ts";

export interface OidcServer {
  issuer: string;
  env: Record<string, string>;
  /** Clients. They are read at the first request. */
  gantryUrls: string[];
  /** Claims of each account, by the name that signs in. */
  people: Map<string, Record<string, unknown>>;
  /** Answers 503 to everything. */
  isDown: boolean;
  /** Paths of the requests. */
  asked: string[];
  close(): Promise<void>;
}

/** A real OpenID provider with its own sign-in and consent pages, where Gantry at `gantryUrls` is a client. */
export async function startOidcServer(gantryUrls: readonly string[] = []): Promise<OidcServer> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const provider = () =>
    new Provider(issuer, {
      clients: [
        {
          client_id: "gantry",
          client_secret: "secret-of-the-test-0123456789",
          redirect_uris: server.gantryUrls.map((url) => `${url}/console/api/oidc/callback`),
          post_logout_redirect_uris: server.gantryUrls.map((url) => `${url}/console/sign-in`),
        },
      ],
      claims: {
        // Those of this scope are in the ID token, the others in the user info.
        openid: ["sub", "badges"],
        profile: ["preferred_username"],
        email: ["email", "email_verified"],
        groups: ["groups"],
      },
      cookies: { keys: ["a key of the test"] },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
      ttl: { AccessToken: 600, Grant: 3600, Interaction: 600, Session: 3600, IdToken: 600 },
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: `subject-of-${id}`, preferred_username: id, ...server.people.get(id) }),
      }),
    });
  let listener: RequestListener | undefined;
  const http = createServer((request, response) => {
    server.asked.push((request.url ?? "").replace(/\?.*/, ""));
    if (server.isDown) response.writeHead(503).end();
    else {
      listener ??= provider().callback();
      listener(request, response);
    }
  }).listen(port, "127.0.0.1");
  await once(http, "listening");
  const server: OidcServer = {
    issuer,
    env: {
      GANTRY_OIDC_ISSUER: issuer,
      GANTRY_OIDC_CLIENT_ID: "gantry",
      GANTRY_OIDC_CLIENT_SECRET: "secret-of-the-test-0123456789",
      GANTRY_OIDC_SCOPES: "openid profile email groups",
    },
    gantryUrls: [...gantryUrls],
    people: new Map(),
    isDown: false,
    asked: [],
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
  return server;
}
