import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type onRequestHookHandler,
  type RouteHandlerMethod,
} from "fastify";
import { type Activity, noTelemetry, type Telemetry } from "../../engines/telemetry/telemetry.ts";
import type { Authenticate, Client } from "../../features/accounts/index.ts";
import { errorBody, errorHeaders } from "../../kernel/error-body.ts";
import { fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { type Access, accessOf } from "./access-table.ts";
import { actingAsCaller } from "./audit-actor.ts";
import { isAudited } from "./audited-routes.ts";
import { clientAddressOf, type TrustedRange } from "./client-address.rules.ts";
import { isOfConsole } from "./credentials.ts";
import { discardBody } from "./discard-body.ts";
import { maxParamLength, refuseUnknownPaths } from "./refuse-unknown-paths.ts";
import { loggedPathOf, pathOf, requestIdOf, templateOf } from "./request-line.ts";
import { requireCaller } from "./require-caller.ts";
import { toFault } from "./to-fault.ts";
import { nulInAddress, nulText } from "./unstorable-text.rules.ts";

export interface ServerOptions {
  log: Log;
  /** GANTRY_PUBLIC_URL, if the operator has set it. */
  publicUrl: string | undefined;
  /** GANTRY_FILES_URL, if the operator has set it. */
  filesUrl?: string | undefined;
  /** GANTRY_TRUSTED_PROXIES. */
  trustedProxies?: readonly TrustedRange[];
  telemetry?: Telemetry;
  /** Finds the caller of every route that needs a key, before its body is read and again after that. */
  authenticate?: Authenticate;
}

/** Writes errors for one part of the path space. */
export type Dialect = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

const longestUserAgent = 300;

/** Throws the error for a path that the router cannot decode. */
type UnreadableAddress = (request: FastifyRequest) => Promise<never>;

/**
 * The HTTP server without routes: request ids, error bodies, 404 and 405. Surfaces register as Fastify plugins; a
 * surface with another dialect sets its own error handler.
 */
export function createServer({
  log,
  publicUrl,
  filesUrl,
  authenticate,
  trustedProxies = [],
  telemetry = noTelemetry,
}: ServerOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: 1_048_576,
    // Idle connections are closed on shutdown; `main.ts` drains the others.
    forceCloseConnections: "idle",
    requestIdHeader: false,
    genReqId: (raw) => requestIdOf(raw.headers),
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: false, maxParamLength },
    // The router passes a path that it cannot decode to no plugin and no hook.
    frameworkErrors: async (error, request, reply) => {
      discardBody(request.raw, reply.raw);
      const write = ofPart(dialects, request) ?? writeError;
      const thrown = await ofPart(unreadableAddresses, request)?.(request).catch((own: unknown) => own);
      write(thrown ?? error, request, reply as FastifyReply);
    },
  });
  const dialects: FastifyInstance["dialects"] = new Map();
  const unreadableAddresses: FastifyInstance["unreadableAddresses"] = new Map();
  const accessRows = new Set<string>();
  app.decorate("accessRows", accessRows);
  app.decorate("dialects", dialects);
  app.decorate("unreadableAddresses", unreadableAddresses);
  app.decorateRequest("baseUrl", { getter: requestBaseUrl });
  app.decorateRequest("client", { getter: requestClient });
  app.decorateRequest("activity", null);
  app.decorateRequest("template", undefined);
  app.decorateRequest("identified", null);

  function requestBaseUrl(this: FastifyRequest): string {
    return publicUrl ?? `${this.protocol}://${this.host}`;
  }

  function requestClient(this: FastifyRequest): Client {
    const { "x-forwarded-for": forwarded, "user-agent": agent } = this.headers;
    const userAgent = agent?.replace(/\p{Cc}/gu, "").slice(0, longestUserAgent) || null;
    return { ...clientAddressOf(this.raw.socket.remoteAddress, forwarded, trustedProxies), userAgent };
  }

  function writeError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const failure = toFault(thrown);
    if (failure.isServerError) {
      log.error(
        {
          request_id: request.id,
          method: request.method,
          path: loggedPathOf(request.url),
          err: failure.cause ?? failure,
        },
        failure.message,
      );
    }
    return reply
      .code(failure.status)
      .headers(errorHeaders(failure))
      .header("x-request-id", request.id)
      .send(errorBody(failure, request.baseUrl));
  }

  app.addHook("onRoute", (route) => {
    const { handler } = route;
    const template = templateOf(route.url);
    const path = template.replace(/:(\w+)/g, "{$1}");
    const routes = route.config?.routes ?? [route.method].flat().map((method) => `${method} ${path}`);
    const rows = routes.map(accessOf);
    for (const { row } of rows) accessRows.add(row);
    const access = rows[0]?.access;
    if (rows.some((other) => other.access !== access))
      throw new Error(`${route.url} needs one access for all its methods`);
    route.config = { ...route.config, access };
    const audited = rows.some(({ row }) => isAudited(row));
    // Hooks and body parsing are not part of the activity.
    route.handler = function (request, reply) {
      request.template = template;
      const handle = () => handler.call(this, request, reply);
      const work = audited ? () => actingAsCaller(request, handle) : handle;
      return request.activity ? telemetry.within(request.activity, work) : work();
    };
    if (route.config?.readsBody) route.onRequest = [route.onRequest ?? [], answerFrom(route.handler)].flat();
  });
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    // Another user may sign in with the same browser.
    if (isOfConsole(request.headers)) reply.header("cache-control", "no-store");
    const { raw } = reply;
    const { traceparent, tracestate } = request.headers;
    const activity = telemetry.requestStarted(one(traceparent), one(tracestate));
    request.activity = activity;
    raw.on("close", () => {
      telemetry.requestEnded(activity, {
        method: request.method,
        route: request.template ?? (request.is404 ? undefined : templateOf(request.routeOptions.url ?? "")),
        status: raw.writableFinished ? raw.statusCode : undefined,
        requestId: request.id,
      });
    });
    done();
  });
  if (filesUrl !== undefined) keepFilesApart(app, new URL(filesUrl));
  if (authenticate !== undefined) {
    const identify = requireCaller(authenticate);
    const needsKey = ({ routeOptions: { config } }: FastifyRequest) =>
      config.access?.by === "key" || config.access?.by === "admin";
    app.addHook("onRequest", async (request) => {
      if (needsKey(request)) await identify(request);
    });
    // The key may have been revoked or replaced while the body arrived.
    app.addHook("preHandler", async (request) => {
      if (request.method === "GET" || !needsKey(request)) return;
      request.identified = null;
      await identify(request);
    });
  }
  app.addHook("onRequest", (request, _reply, done) => {
    const loc = nulInAddress(request.url, request.params, request.query);
    done(loc && fault("value_error", nulText, { loc }));
  });
  // Unknown paths are refused before their body is read.
  app.addHook("onRequest", function (request, reply, done) {
    if (request.is404) answerFrom(request.routeOptions.handler).call(this, request, reply, done);
    else done();
  });
  // A client that is still sending must be able to read the refusal.
  app.addHook("onError", async (request, reply) => {
    discardBody(request.raw, reply.raw);
  });
  app.setErrorHandler(writeError);
  refuseUnknownPaths(app);
  return app;
}

/** Serves user content only on its own origin, and nothing else there. */
function keepFilesApart(app: FastifyInstance, { protocol, host, href }: URL): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const isOfFiles = URL.parse(`${protocol}//${request.headers.host}`)?.host === host;
    const isFile = request.routeOptions.url?.startsWith("/s3/") ?? false;
    if (isOfFiles === isFile) return done();
    const msg = `Files are served at ${href}. If you called that address, its proxy must pass on the Host header.`;
    done(fault("not_found", isFile ? msg : "Not found"));
  });
}

/**
 * Runs the handler as the last hook before the body is parsed: looking up a parser for the body's type costs as much as
 * reading a small form.
 */
function answerFrom(handler: RouteHandlerMethod): onRequestHookHandler {
  return function (request, reply) {
    Promise.resolve(handler.call(this, request, reply)).then(
      (payload) => {
        if (!reply.sent && payload !== reply) reply.send(payload);
      },
      (error) => {
        if (!reply.sent) reply.send(error instanceof Error ? error : new Error("Not an error", { cause: error }));
      },
    );
  };
}

function ofPart<T>(byPrefix: ReadonlyMap<string, T>, request: FastifyRequest): T | undefined {
  const path = pathOf(request.url);
  const [, found] = [...byPrefix].find(([prefix]) => path.startsWith(`${prefix}/`)) ?? [];
  return found;
}

function one(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header : undefined;
}

declare module "fastify" {
  interface FastifyInstance {
    /** The rows of the access table that have a route. */
    readonly accessRows: ReadonlySet<string>;
    /** By prefix, for plugins with their own dialect. */
    readonly dialects: Map<string, Dialect>;
    /** By prefix, the error for undecodable paths; elsewhere it is 404. */
    readonly unreadableAddresses: Map<string, UnreadableAddress>;
  }
  interface FastifyRequest {
    /** The base address of links in the answer. */
    readonly baseUrl: string;
    /** Where the request comes from. */
    readonly client: Client;
    /** Null until the first hook. */
    activity: Activity | null;
    /** The registered path of the route; undefined until its handler runs. */
    template: string | undefined;
  }
  interface FastifyContextConfig {
    /** The handler reads the body itself. */
    readsBody?: boolean;
    /** The operations of the route, where `foundation/route.ts` registered it: `GET /v1/agents/{agent_id}`. */
    routes?: readonly string[];
    /** The route's row of the access table. */
    access?: Access | undefined;
  }
}
