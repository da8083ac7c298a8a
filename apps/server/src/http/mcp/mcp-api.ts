import { randomUUID } from "node:crypto";
import { pipeline, Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Authenticate } from "../../features/accounts/index.ts";
import { mcpScope } from "../../features/connected-apps/index.ts";
import { fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { answerPreflight, useCors } from "../doors/cors.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { discardBody } from "../foundation/discard-body.ts";
import { isOwnOrigin } from "../foundation/origin.rules.ts";
import { isUnstorable, jsonParserOf, poisonousName, poisonousNameText } from "../foundation/parse-json.ts";
import { originOf } from "../foundation/request-origin.ts";
import { requireCaller } from "../foundation/require-caller.ts";
import { resourceMetadataUrl } from "../oauth-api/metadata.ts";
import { answerMessage, type McpServerDeps } from "./answer-message.ts";
import { rpcError } from "./rpc-error.ts";

export interface McpApiDeps extends McpServerDeps {
  authenticate: Authenticate;
  /** GANTRY_PUBLIC_URL, if the operator has set it. */
  publicUrl: string | undefined;
  /** GANTRY_CORS_ORIGINS: pages that may call /mcp, besides those of this server. */
  corsOrigins: readonly string[];
}

/** Large enough for files as data URIs. */
const maxBodyBytes = 10_485_760;
const sessionPattern = /^[\x21-\x7e]{1,100}$/;

/**
 * Gantry as an MCP server at `/mcp`, by streamable HTTP, without sessions. The session id in the answer to `initialize`
 * is not stored: it only lets a later cancellation find its call, on any node.
 */
export async function mcpApi(app: FastifyInstance, deps: McpApiDeps): Promise<void> {
  const callerOf = requireCaller(deps.authenticate);
  let library: Promise<typeof import("@modelcontextprotocol/server")> | undefined;

  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer", bodyLimit: maxBodyBytes },
    jsonParserOf(app),
  );
  useCors(app, deps.corsOrigins);
  // Before the body is read.
  app.addHook("onRequest", async (request, reply) => {
    if (request.method === "OPTIONS") return;
    const { origin, host } = request.headers;
    if (!isOwnOrigin(origin, host, deps.publicUrl) && !reply.hasHeader("access-control-allow-origin")) {
      const advice = "The operator can allow an origin in GANTRY_CORS_ORIGINS.";
      throw fault("forbidden", `Pages of other sites cannot call this server. ${advice}`);
    }
    await callerOf(request);
  });
  app.addHook("onSend", async (request, reply) => {
    if (reply.statusCode === 401) reply.header("www-authenticate", challengeOf(request));
  });
  app.addHook("onError", async (request, reply) => discardBody(request.raw, reply.raw));
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    if (isUnstorable(error)) {
      return reply.code(400).send(rpcError(-32_700, `Parse error at ${error.loc.join(".")}: ${error.message}`));
    }
    const refused = unreadable[error.code];
    if (!refused) throw error;
    const { status, code, message } = refused;
    return reply.code(status).send(rpcError(code, message));
  });

  app.options("/mcp", { config: { readsBody: true } }, answerPreflight);
  app.post("/mcp", async (request, reply) => {
    const caller = await callerOf(request);
    const signal = clientPresence(reply);
    const session = sessionOf(request);
    const { body: message, baseUrl, id: requestId } = request;
    const cancelled = session === undefined ? undefined : cancelledRequest(message);
    if (session !== undefined && cancelled !== undefined) {
      await deps.tools.calls.cancel({ keyId: caller.keyId, session, requestId: cancelled });
    }
    // The library is large, so it is loaded on first use.
    library ??= import("@modelcontextprotocol/server");
    const exchange = {
      caller,
      requestId,
      origin: originOf(request),
      message,
      headers: headersOf(request),
      session,
      baseUrl,
      signal,
    };
    const response = await answerMessage(await library, deps, exchange);
    if (response.ok && isRecord(message) && message.method === "initialize") {
      response.headers.set("mcp-session-id", randomUUID());
    }
    return send(request, reply, response);
  });
}

/** Tells apps where they can get a token (RFC 9728). */
function challengeOf({ baseUrl, headers }: FastifyRequest): string {
  const wrong = headers.authorization === undefined ? "" : 'error="invalid_token", ';
  return `Bearer ${wrong}resource_metadata="${resourceMetadataUrl(baseUrl)}", scope="${mcpScope}"`;
}

/** Errors about a body, as JSON-RPC errors. */
const unreadable: Readonly<Record<string, { status: number; code: number; message: string }>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: { status: 400, code: -32_700, message: "Parse error: the body is not valid JSON" },
  [poisonousName]: { status: 400, code: -32_600, message: `Invalid Request: ${poisonousNameText}` },
  FST_ERR_CTP_EMPTY_JSON_BODY: { status: 400, code: -32_700, message: "Parse error: the body is empty" },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    status: 400,
    code: -32_700,
    message: "Parse error: the length of the body does not match Content-Length",
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { status: 415, code: -32_000, message: "The body must be application/json" },
  FST_ERR_CTP_BODY_TOO_LARGE: {
    status: 413,
    code: -32_000,
    message: `The body is larger than ${maxBodyBytes} bytes`,
  },
};

function cancelledRequest(message: unknown): string | number | undefined {
  if (!isRecord(message) || message.method !== "notifications/cancelled" || !isRecord(message.params)) return undefined;
  const { requestId } = message.params;
  return typeof requestId === "string" || typeof requestId === "number" ? requestId : undefined;
}

function sessionOf({ headers }: FastifyRequest): string | undefined {
  const session = headers["mcp-session-id"];
  return typeof session === "string" && sessionPattern.test(session) ? session : undefined;
}

function headersOf({ headers }: FastifyRequest): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const isKnown = name === "accept" || name === "content-type" || name.startsWith("mcp-");
    if (isKnown && typeof value === "string") passed[name] = value;
  }
  return passed;
}

async function send(request: FastifyRequest, reply: FastifyReply, response: Response): Promise<FastifyReply> {
  const { status, body } = response;
  // Keeping the connection is decided by the server, which may be about to stop.
  response.headers.delete("connection");
  const headers = Object.fromEntries(response.headers);
  if (body === null || headers["content-type"] !== "text/event-stream") {
    return reply
      .code(status)
      .headers(headers)
      .send(body === null ? undefined : await response.text());
  }
  reply.hijack();
  // Those of CORS.
  for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value ?? "");
  reply.raw.writeHead(status, { ...headers, "x-request-id": request.id });
  reply.raw.flushHeaders();
  // Either side may end the stream early.
  pipeline(Readable.fromWeb(body as ReadableStream), reply.raw, () => {});
  return reply;
}
