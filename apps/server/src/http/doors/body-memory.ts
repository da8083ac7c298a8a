import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
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
  /** Undefined if the bytes do not fit now. */
  take(userId: string, bytes: number): TakenMemory | undefined;
}

export interface TakenMemory {
  /** Gives back what the body did not need. */
  shrink(bytes: number): void;
  release(): void;
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
      let held = bytes;
      const shrink = (needed: number) => {
        const left = Math.min(held, needed);
        add(userId, left - held);
        held = left;
      };
      return { shrink, release: () => shrink(0) };
    },
  };
}

/** What each open answer holds. One listener for all of it, because a request may contain many images. */
const heldBy = new WeakMap<FastifyReply, TakenMemory[]>();

/** Holds memory until the request is answered. */
export function holdMemory(bodies: BodyMemory, userId: string, reply: FastifyReply, bytes: number): TakenMemory {
  // The end of the answer has passed, and would not release it.
  if (reply.raw.destroyed) throw fault("generation_cancelled", "The client disconnected");
  const memory = bodies.take(userId, bytes);
  if (!memory) {
    throw fault("service_unavailable", "Too many large requests are in progress. Try again in a moment.", {
      retryAfterSeconds: 1,
    });
  }
  const held = heldBy.get(reply) ?? [];
  if (held.length === 0) {
    heldBy.set(reply, held);
    reply.raw.once("close", () => {
      for (const one of held) one.release();
    });
  }
  held.push(memory);
  return memory;
}

/** Lets the JSON bodies of a plugin be large, as long as they fit into the shared memory until they are answered. */
export function useLargeBodies(app: FastifyInstance, bodies: BodyMemory): void {
  /** Requests that do not announce their length. */
  const unmeasured = new WeakMap<FastifyRequest, TakenMemory>();
  app.addHook("onRequest", async (request, reply) => {
    const { "content-length": length, "transfer-encoding": encoding } = request.headers;
    if (request.routeOptions.config.readsBody || (length === undefined && encoding === undefined)) return;
    const bytes = length === undefined ? largestBody : Number(length);
    // The parser refuses it by its length.
    if (!(bytes > 0 && bytes <= largestBody)) return;
    const { userId } = await callerOf(request);
    const memory = holdMemory(bodies, userId, reply, bytes);
    if (length === undefined) unmeasured.set(request, memory);
  });
  // Translations walk through the body.
  app.addHook("preHandler", async ({ body }) => {
    if (!isWithinDepth(body, deepestRequest)) throw fault("json_invalid", "The body is nested too deeply.");
  });
  const parse = jsonParserOf(app);
  app.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer", bodyLimit: largestBody },
    (request, bytes, done) => {
      unmeasured.get(request)?.shrink(bytes.length);
      parse(request, bytes, done);
    },
  );
}
