import {
  type AnswerOf,
  type BodyOf,
  type Operation,
  type PathParams,
  type QueryOf,
  routeOf,
} from "@gantry/wire/operations";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteShorthandOptions } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import { throwIfAny } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { queryIssues } from "./page-query.ts";
import { callerOf } from "./require-caller.ts";

type Unchecked = "query" | "body";

export interface Call<Op extends Operation, Raw extends Unchecked = never> {
  caller: Caller;
  params: PathParams<Op["path"]>;
  query: "query" extends Raw ? unknown : QueryOf<Op>;
  body: "body" extends Raw ? unknown : BodyOf<Op>;
  request: FastifyRequest;
  reply: FastifyReply;
}

type Handler<Op extends Operation, Raw extends Unchecked = never> = Op extends { status: 204 }
  ? (call: Call<Op, Raw>) => Promise<void>
  : (call: Call<Op, Raw>) => Promise<AnswerOf<Op> | FastifyReply>;

/** The overloads of `route` type each handler by its operation. */
type AnyHandler = (call: never) => unknown;

interface Options<Raw extends Unchecked> extends Pick<RouteShorthandOptions, "bodyLimit" | "exposeHeadRoute"> {
  /** The part of the request that the handler or the feature checks by itself. */
  unchecked?: Raw;
}

/** Registers an operation: checks query and body by its schemas, and answers with its status. */
export function route<Op extends Operation>(app: FastifyInstance, operation: Op, handle: Handler<Op>): void;
export function route<Op extends Operation, Raw extends Unchecked = never>(
  app: FastifyInstance,
  operation: Op,
  options: Options<Raw>,
  handle: Handler<Op, Raw>,
): void;
export function route(
  app: FastifyInstance,
  operation: Operation,
  ...given: [AnyHandler] | [Options<Unchecked>, AnyHandler]
): void {
  const [{ unchecked, ...options }, handle] = given.length === 1 ? [{} as Options<Unchecked>, given[0]] : given;
  const { status = 200 } = operation;
  const query = unchecked === "query" ? undefined : operation.query;
  const body = unchecked === "body" || typeof operation.body === "string" ? undefined : operation.body;
  // Under /api/v2 the refusal of a missing body names the fields that are required, not the body.
  const missingBody = operation.base === "/api/v2" || body?.safeParse({}).success ? {} : undefined;
  app.route({
    ...options,
    ...registration(app, [operation]),
    handler: async (request, reply) => {
      reply.code(status);
      const call: Call<Operation> = {
        caller: await callerOf(request),
        params: request.params,
        query: query ? readQuery(query, request.query) : request.query,
        body: body
          ? parseOrThrow(body, request.body === undefined ? missingBody : request.body, ["body"])
          : request.body,
        request,
        reply,
      };
      const answer = await handle(call as never);
      return answer === reply ? reply : reply.send(answer);
    },
  });
}

type AtPath<Path extends string> = Operation & { path: Path };
type RawHandler<Path extends string> = (
  request: FastifyRequest<{ Params: PathParams<Path> }>,
  reply: FastifyReply,
) => unknown;

/** Registers a handler that reads the whole request by itself. Operations of one path can share it. */
export function rawRoute<Path extends string>(
  app: FastifyInstance,
  operations: readonly [AtPath<Path>, ...AtPath<Path>[]],
  options: RouteShorthandOptions,
  handler: RawHandler<Path>,
): void {
  app.route({
    ...options,
    ...registration(app, operations, options.config),
    handler: handler as RouteHandlerMethod,
  });
}

function registration(app: FastifyInstance, operations: readonly [Operation, ...Operation[]], config = {}) {
  const [{ base, path }] = operations;
  const url = `${base}${path}`
    .replace(/\/$/, "")
    .replace("{path}", "*")
    .replace(/\{(\w+)\}/g, ":$1");
  return {
    method: operations.map(({ method }) => method.toUpperCase()),
    url: url.slice(app.prefix.length),
    config: { ...config, routes: operations.map(routeOf) },
  };
}

function readQuery(schema: NonNullable<Operation["query"]>, query: unknown): unknown {
  const given = Object(query) as Record<string, unknown>;
  throwIfAny(queryIssues(schema, given));
  return schema.parse(given);
}
