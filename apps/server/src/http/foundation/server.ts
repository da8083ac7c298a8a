import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type onRequestHookHandler,
  type RouteHandlerMethod,
} from "fastify";
import { type Activity, noTelemetry, type Telemetry } from "../../engines/telemetry/telemetry.ts";
import type { Caller } from "../../features/accounts/index.ts";
import { errorBody, errorHeaders } from "../../kernel/error-body.ts";
import { fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { type Access, accessOf } from "./access-table.ts";
import { discardBody } from "./discard-body.ts";
import { maxParamLength, refuseUnknownPaths } from "./refuse-unknown-paths.ts";
import { requestIdOf } from "./request-id.ts";
import { pathOf, templateOf } from "./request-path.ts";
import { requireCaller } from "./require-caller.ts";
import { isOfConsole } from "./session-cookie.ts";
import { toFault } from "./to-fault.ts";
import { nulInAddress, nulText } from "./unstorable-text.rules.ts";

export interface ServerOptions {
  log: Log;
  /** GANTRY_PUBLIC_URL, when the operator set one. */
  publicUrl: string | undefined;
  /** GANTRY_FILES_URL, when the operator set one. */
  filesUrl?: string | undefined;
  telemetry?: Telemetry;
  /** Finds the caller of every route that needs a key, before its body is read. */
  authenticate?: (presented: string) => Promise<Caller>;
}

/** An error writer for one part of the path space; the agents surface brings its own. */
export type Dialect = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/** Throws what is said of an address that cannot be read. */
type UnreadableAddress = (request: FastifyRequest) => Promise<never>;

/**
 * The HTTP server without any route: request ids, error bodies, 404 and 405. Surfaces are registered on it as Fastify
 * plugins; a surface with another dialect sets its own error handler inside its plugin.
 */
export function createServer({
  log,
  publicUrl,
  filesUrl,
  authenticate,
  telemetry = noTelemetry,
}: ServerOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: 1_048_576,
    // Closing idle connections on shutdown; running ones are drained by `main.ts`.
    forceCloseConnections: "idle",
    requestIdHeader: false,
    genReqId: (raw) => requestIdOf(raw.headers),
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: false, maxParamLength },
    // Of an address that cannot be read, which the router gives to no plugin, and to no hook.
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
  app.decorateRequest("activity", null);
  app.decorateRequest("template", undefined);
  app.decorateRequest("identified", null);

  function requestBaseUrl(this: FastifyRequest): string {
    return publicUrl ?? `${this.protocol}://${this.host}`;
  }

  function writeError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const failure = toFault(thrown);
    if (failure.isServerError) {
      log.error(
        { request_id: request.id, method: request.method, path: pathOf(request.url), err: failure.cause ?? failure },
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
    // From here on whatever the request does belongs to its activity; hooks before it, and the parsing of a body, do not.
    route.handler = function (request, reply) {
      request.template = template;
      return request.activity
        ? telemetry.within(request.activity, () => handler.call(this, request, reply))
        : handler.call(this, request, reply);
    };
    if (route.config?.readsBody) route.onRequest = [route.onRequest ?? [], answerFrom(route.handler)].flat();
  });
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    // The next one at the same browser may be somebody else.
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
    app.addHook("onRequest", async (request) => {
      const by = request.routeOptions.config.access?.by;
      if (by === "key" || by === "admin") await identify(request);
    });
  }
  app.addHook("onRequest", (request, _reply, done) => {
    const loc = nulInAddress(request.url, request.params, request.query);
    done(loc && fault("value_error", nulText, { loc }));
  });
  // Where there is nothing it does not matter what was sent: a body that is wrong, or too large, is not even looked at.
  app.addHook("onRequest", function (request, reply, done) {
    if (request.is404) answerFrom(request.routeOptions.handler).call(this, request, reply, done);
    else done();
  });
  // Whoever is refused before the body was read must still be able to read the answer.
  app.addHook("onError", async (request, reply) => {
    discardBody(request.raw, reply.raw);
  });
  app.setErrorHandler(writeError);
  refuseUnknownPaths(app);
  return app;
}

/** Content of users has an origin of its own: nothing else is served there, and no content anywhere else. */
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
 * The handler of a route that reads its body itself, or needs none, as the last hook before the body: Fastify would first
 * look for a parser of the body's type, which costs as much as reading a small form does.
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

/** What was set for the part of the addresses that a request's is in. */
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
    /** The rows of the access table that routes were registered for. */
    readonly accessRows: ReadonlySet<string>;
    /** Of plugins with a dialect of their own, by their prefix. */
    readonly dialects: Map<string, Dialect>;
    /** By their prefix, the parts where more is said than that nothing is there. */
    readonly unreadableAddresses: Map<string, UnreadableAddress>;
  }
  interface FastifyRequest {
    /** The address that links in the answer carry. */
    readonly baseUrl: string;
    /** What is measured of it; null until its first hook. */
    activity: Activity | null;
    /** The path of its route as it was registered; undefined until its handler is called. */
    template: string | undefined;
  }
  interface FastifyContextConfig {
    /** The handler reads the body of the request itself. */
    readsBody?: boolean;
    /** The operations of the route, where `foundation/route.ts` registered it: `GET /v1/agents/{agent_id}`. */
    routes?: readonly string[];
    /** The route's row of the access table. */
    access?: Access | undefined;
  }
}
