import type { FastifyInstance } from "fastify";
import { fault } from "../../kernel/errors.ts";
import { deepestBody, isWithinDepth } from "../../kernel/storable-issues.ts";
import { jsonParserOf } from "../foundation/parse-json.ts";
import { callerOf } from "../foundation/require-caller.ts";

/** A tool's schema, or arguments, with the levels of a protocol around them. */
const deepestRequest = deepestBody + 20;
const megabyte = 1_048_576;
export const largestBody = 32 * megabyte;
/** Of all requests together. Parsed and rewritten, a body takes about four times its size. */
const allBodies = 256 * megabyte;
/** So that one user cannot keep the others out. */
const bodiesOfUser = allBodies / 2;

/** The memory that bodies of doors may take, shared by all of them. */
export interface BodyMemory {
  /** Returns the release of the bytes; undefined if they do not fit now. */
  take(userId: string, bytes: number): (() => void) | undefined;
}

export function createBodyMemory(all = allBodies, ofUser = bodiesOfUser): BodyMemory {
  const byUser = new Map<string, number>();
  let taken = 0;

  function add(userId: string, bytes: number): void {
    taken += bytes;
    const own = (byUser.get(userId) ?? 0) + bytes;
    if (own === 0) byUser.delete(userId);
    else byUser.set(userId, own);
  }

  return {
    take(userId, bytes) {
      if (taken + bytes > all || (byUser.get(userId) ?? 0) + bytes > ofUser) return undefined;
      add(userId, bytes);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        add(userId, -bytes);
      };
    },
  };
}

/** Lets the JSON bodies of a plugin be large, as long as they fit into the shared memory until they are answered. */
export function useLargeBodies(app: FastifyInstance, bodies: BodyMemory): void {
  app.addHook("onRequest", async (request, reply) => {
    const { "content-length": length, "transfer-encoding": encoding } = request.headers;
    if (request.routeOptions.config.readsBody || (length === undefined && encoding === undefined)) return;
    const bytes = length === undefined ? largestBody : Number(length);
    // The parser refuses it by its length.
    if (!(bytes > 0 && bytes <= largestBody)) return;
    const { userId } = await callerOf(request);
    const release = bodies.take(userId, bytes);
    if (!release) {
      throw fault("service_unavailable", "Too many large requests are in progress. Try again in a moment.", {
        retryAfterSeconds: 1,
      });
    }
    reply.raw.once("close", release);
  });
  // Translations walk through the body.
  app.addHook("preHandler", async ({ body }) => {
    if (!isWithinDepth(body, deepestRequest)) throw fault("json_invalid", "The body is nested too deeply.");
  });
  app.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer", bodyLimit: largestBody },
    jsonParserOf(app),
  );
}
