import { type IdKind, newId } from "@gantry/wire";
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type onRequestHookHandler,
  type RouteHandlerMethod,
} from "fastify";
import FindMyWay from "find-my-way";
import { type Activity, noTelemetry, type Telemetry } from "../../engines/telemetry/telemetry.ts";
import { errorBody, errorHeaders } from "../../kernel/error-body.ts";
import { fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { leaveBody } from "../multipart/leave-body.ts";
import { pathOf } from "./request-path.ts";
import { toFault } from "./to-fault.ts";

export interface ServerOptions {
  log: Log;
  /** GANTRY_PUBLIC_URL, when the operator set one. */
  publicUrl: string | undefined;
  telemetry?: Telemetry;
}

/** An error writer for one part of the path space; the agents surface brings its own. */
export type Dialect = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
const requestIdKind: IdKind = "request";
const presentedRequestId = /^[A-Za-z0-9._-]{8,64}$/;

/**
 * The HTTP server without any route: request ids, error bodies, 404 and 405. Surfaces are registered on it as Fastify
 * plugins; a surface with another dialect sets its own error handler inside its plugin.
 */
export function createServer({ log, publicUrl, telemetry = noTelemetry }: ServerOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: 1_048_576,
    // Closing idle connections on shutdown; running ones are drained by `main.ts`.
    forceCloseConnections: "idle",
    requestIdHeader: false,
    genReqId: (raw) => {
      const given = raw.headers["x-request-id"];
      return typeof given === "string" && presentedRequestId.test(given) ? given : newId(requestIdKind);
    },
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: false, maxParamLength: 2048 },
    frameworkErrors: (error, request, reply) => {
      leaveBody(request.raw, reply.raw);
      return dialectOf(request)(error, request, reply as FastifyReply);
    },
  });
  const dialects: FastifyInstance["dialects"] = new Map();
  app.decorate("dialects", dialects);
  app.decorateRequest("baseUrl", { getter: requestBaseUrl });
  app.decorateRequest("activity", null);
  app.decorateRequest("template", undefined);
  app.decorateRequest("identified", null);
  const known = FindMyWay({ ignoreTrailingSlash: true, maxParamLength: 2048 });

  function requestBaseUrl(this: FastifyRequest): string {
    return publicUrl ?? `${this.protocol}://${this.host}`;
  }

  /** For an address that cannot be read, which the router gives to no plugin, and to no hook. */
  function dialectOf(request: FastifyRequest): Dialect {
    const path = pathOf(request.url);
    const [, found = writeError] = [...dialects].find(([prefix]) => path.startsWith(`${prefix}/`)) ?? [];
    return found;
  }

  function writeError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const failure = toFault(thrown);
    if (failure.status >= 500) {
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
    const { handler, url } = route;
    // From here on whatever the request does belongs to its activity; hooks before it, and the parsing of a body, do not.
    route.handler = function (request, reply) {
      request.template = url;
      return request.activity
        ? telemetry.within(request.activity, () => handler.call(this, request, reply))
        : handler.call(this, request, reply);
    };
    if (route.config?.readsBody) route.onRequest = [route.onRequest ?? [], answerFrom(route.handler)].flat();
    for (const method of [route.method].flat()) {
      // A second, empty router knows which paths exist at all, so that a wrong method is told apart from a wrong path.
      if (!known.hasRoute(method as "GET", route.url)) known.on(method as "GET", route.url, () => {});
    }
  });
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    const { raw } = reply;
    const { traceparent, tracestate } = request.headers;
    const activity = telemetry.requestStarted(one(traceparent), one(tracestate));
    request.activity = activity;
    raw.on("close", () => {
      telemetry.requestEnded(activity, {
        method: request.method,
        route: request.template ?? (request.is404 ? undefined : request.routeOptions.url),
        status: raw.writableFinished ? raw.statusCode : undefined,
        requestId: request.id,
      });
    });
    done();
  });
  // Where there is nothing it does not matter what was sent: a body that is wrong, or too large, is not even looked at.
  app.addHook("onRequest", function (request, reply, done) {
    if (request.is404) answerFrom(request.routeOptions.handler).call(this, request, reply, done);
    else done();
  });
  // Whoever is refused before the body was read must still be able to read the answer.
  app.addHook("onError", async (request, reply) => {
    leaveBody(request.raw, reply.raw);
  });
  app.setErrorHandler(writeError);
  app.setNotFoundHandler((request) => {
    const allowed = methods.filter((method) => known.find(method, pathOf(request.url)) !== null);
    if (allowed.length === 0) throw fault("not_found", "Not found");
    throw fault("method_not_allowed", `Method ${request.method} is not allowed here`, {
      headers: { allow: allowed.join(", ") },
    });
  });
  return app;
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

function one(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header : undefined;
}

declare module "fastify" {
  interface FastifyInstance {
    /** Of plugins with a dialect of their own, by their prefix. */
    readonly dialects: Map<string, Dialect>;
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
  }
}
