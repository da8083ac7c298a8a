import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type ConnectedApps, mcpScope, OAuthRefusal, refusal } from "../../features/connected-apps/index.ts";
import { answerPreflight, useCors } from "../doors/cors.ts";
import { discardBody } from "../foundation/discard-body.ts";
import { isUnstorable, jsonParserOf } from "../foundation/parse-json.ts";
import { sendPlainPage } from "../foundation/plain-page.ts";
import { clientCredentials } from "./client-credentials.ts";
import { resourceMetadata, serverMetadata } from "./metadata.ts";

export interface OAuthApiDeps {
  connectedApps: ConnectedApps;
}

/** Senders are unknown, so longer bodies are not read. */
const maxBodyBytes = 32 * 1024;
const retryAfterSeconds = "600";

/** The authorization server for /mcp: metadata, registration, authorization and tokens. */
export async function oauthApi(app: FastifyInstance, { connectedApps }: OAuthApiDeps): Promise<void> {
  await app.register(async (scope) => {
    // Nothing here depends on a cookie, so pages of any origin may call it.
    useCors(scope, ["*"]);
    useOAuthErrors(scope);
    metadataRoutes(scope);
    registerRoute(scope, connectedApps);
    await scope.register(async (forms) => formRoutes(forms, connectedApps));
  });
  authorizeRoute(app, connectedApps);
}

function metadataRoutes(app: FastifyInstance): void {
  for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]) {
    app.get(path, async ({ baseUrl }) => resourceMetadata(baseUrl));
    addPreflight(app, path);
  }
  const path = "/.well-known/oauth-authorization-server";
  app.get(path, async ({ baseUrl }) => serverMetadata(baseUrl));
  addPreflight(app, path);
}

function registerRoute(app: FastifyInstance, connectedApps: ConnectedApps): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, jsonParserOf(app));
  app.post("/oauth/register", { bodyLimit: maxBodyBytes }, async (request, reply) => {
    const client = await connectedApps.registerClient(request.body, request.client);
    return reply
      .code(201)
      .header("cache-control", "no-store")
      .send({
        client_id: client.id,
        client_id_issued_at: Math.floor(client.createdAt.getTime() / 1000),
        ...(client.secret !== undefined && { client_secret: client.secret, client_secret_expires_at: 0 }),
        client_name: client.name,
        redirect_uris: client.redirectUris,
        token_endpoint_auth_method: client.authMethod,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        scope: mcpScope,
      });
  });
  addPreflight(app, "/oauth/register");
}

function formRoutes(app: FastifyInstance, connectedApps: ConnectedApps): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, text, done) =>
    done(null, new URLSearchParams(text)),
  );
  app.post("/oauth/token", { bodyLimit: maxBodyBytes }, async (request, reply) => {
    const form = formOf(request);
    const client = await connectedApps.findProvenClient(clientCredentials(request.headers, form));
    const tokens = await connectedApps.issueTokens(client, form, request.baseUrl);
    return reply.header("cache-control", "no-store").send({
      access_token: tokens.accessToken,
      token_type: "Bearer",
      expires_in: tokens.expiresInSeconds,
      refresh_token: tokens.refreshToken,
      scope: mcpScope,
    });
  });
  app.post("/oauth/revoke", { bodyLimit: maxBodyBytes }, async (request, reply) => {
    const form = formOf(request);
    const client = await connectedApps.findProvenClient(clientCredentials(request.headers, form));
    await connectedApps.revokeToken(client, form);
    return reply.header("cache-control", "no-store").send();
  });
  for (const path of ["/oauth/token", "/oauth/revoke"]) addPreflight(app, path);
}

/** An app sends the browser of a person here. */
function authorizeRoute(app: FastifyInstance, connectedApps: ConnectedApps): void {
  app.get("/oauth/authorize", async (request, reply) => {
    const query = new URLSearchParams(request.url.split("?")[1]);
    const asked = await connectedApps.readAuthorization(query, request.baseUrl);
    reply.headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
    if (asked.problem !== undefined) return sendPlainPage(reply, 400, "This app cannot be connected", asked.problem);
    // One parameter, because the console's router would read a state such as 1e3 as a number.
    return reply.redirect(`${request.baseUrl}/console/authorize?${new URLSearchParams({ request: `${query}` })}`);
  });
}

function formOf({ body }: FastifyRequest): URLSearchParams {
  if (body instanceof URLSearchParams) return body;
  throw refusal("invalid_request", "Send a form (application/x-www-form-urlencoded)");
}

function addPreflight(app: FastifyInstance, path: string): void {
  app.options(path, { config: { readsBody: true } }, answerPreflight);
}

/** Errors as RFC 6749 and RFC 7591 want them. */
function useOAuthErrors(app: FastifyInstance): void {
  app.setErrorHandler<FastifyError | OAuthRefusal>((error, request, reply) => {
    discardBody(request.raw, reply.raw);
    const refused = asRefusal(error);
    if (!refused) throw error;
    const { code, status, message } = refused;
    if (code === "invalid_client" && request.headers.authorization !== undefined) {
      reply.header("www-authenticate", 'Basic realm="Gantry"');
    }
    if (code === "temporarily_unavailable") reply.header("retry-after", retryAfterSeconds);
    return sendRefusal(reply.code(status), code, message);
  });
}

function asRefusal(error: FastifyError | OAuthRefusal): OAuthRefusal | undefined {
  if (error instanceof OAuthRefusal) return error;
  if (isUnstorable(error)) return refusal("invalid_request", error.message);
  const text = unreadable[error.code];
  return text === undefined ? undefined : refusal("invalid_request", text);
}

const unreadable: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: "The body is not valid JSON",
  FST_ERR_CTP_EMPTY_JSON_BODY: "The body is empty",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "The length of the body does not match Content-Length",
  FST_ERR_CTP_INVALID_MEDIA_TYPE:
    "Send application/json to register, a form (application/x-www-form-urlencoded) elsewhere",
  FST_ERR_CTP_BODY_TOO_LARGE: `The body is larger than ${maxBodyBytes} bytes`,
};

function sendRefusal(reply: FastifyReply, error: string, description: string): FastifyReply {
  return reply.header("cache-control", "no-store").send({ error, error_description: description });
}
