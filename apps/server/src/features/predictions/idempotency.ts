import { newId } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import {
  dropIdempotencyKey,
  findIdempotencyKey,
  type IdempotencyScope,
  takeIdempotencyKey,
} from "./idempotency-store.ts";
import { type EndedPrediction, findEnded, isKnown } from "./store.ts";
import { storedFault } from "./stored-fault.ts";

const longestKey = 255;
const lookAgainMs = 50;
const retryMs = 1_000;
/** By then the key is free by its age. */
const retriedMs = 60_000;

export interface IdempotentRequest {
  userId: string;
  /** The endpoint id. */
  modelName: string;
  route: "sync" | "async";
  key: string;
  /** Over fields and files. */
  fingerprint: string;
}

export type IdempotentStart =
  /** Nobody used the key: run it under this id; `refused` gives the key free when it is not accepted. */
  | { kind: "first"; predictionId: string; refused(): Promise<void> }
  /** The first one is accepted, perhaps ended. */
  | { kind: "repeat"; predictionId: string };

export function checkIdempotencyKey(value: string | string[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && value.length > 0 && value.length <= longestKey) return value;
  throw fault("value_error", `An Idempotency-Key has 1 to ${longestKey} characters`, {
    loc: ["header", "idempotency-key"],
  });
}

/**
 * Decides whether a request with an Idempotency-Key is the first of its kind. While the first is still being accepted a
 * repeat waits; outcomes that are worth another try (cancelled, or retryable) are not kept, so then it is the first anew.
 */
export async function startIdempotent(
  deps: { database: Database; nodeId: string; log: Log },
  request: IdempotentRequest,
): Promise<IdempotentStart> {
  const { database, nodeId } = deps;
  const { userId, modelName, route, key } = request;
  const scope: IdempotencyScope = { userId, scope: modelName, key };
  const fingerprint = `${route}:${request.fingerprint}`;
  for (;;) {
    const predictionId = newId("prediction");
    if (await takeIdempotencyKey(database.sql, scope, { fingerprint, predictionId, nodeId })) {
      return { kind: "first", predictionId, refused: () => giveFree(deps, scope, predictionId) };
    }
    const taken = await findIdempotencyKey(database.sql, scope);
    if (!taken) continue;
    if (taken.fingerprint !== fingerprint) {
      const otherwise = taken.fingerprint.startsWith(`${route}:`)
        ? "with other fields or files"
        : "on another route of this model";
      throw fault("idempotency_key_reused", `The Idempotency-Key was used before ${otherwise}`, {
        loc: ["header", "idempotency-key"],
      });
    }
    const address = { id: taken.predictionId, userId, modelName };
    const ended = await findEnded(database.sql, address);
    if (ended && isKept(ended)) return { kind: "repeat", predictionId: taken.predictionId };
    // It may have ended between the looks, so the last one asks for both.
    if (!ended && (await isKnown(database.sql, taken.predictionId)))
      return { kind: "repeat", predictionId: taken.predictionId };
    if (ended || taken.stale) await dropIdempotencyKey(database.sql, scope, taken.predictionId);
    else await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}

/**
 * Whether a request with this key may be a repeat, as far as that can be told before its body is read: a repeat gets the
 * first answer whatever funds and limits say now, so they must not turn it away before.
 */
export async function mayBeRepeat(
  database: Database,
  { userId, modelName, key }: Pick<IdempotentRequest, "userId" | "modelName" | "key">,
): Promise<boolean> {
  const taken = await findIdempotencyKey(database.sql, { userId, scope: modelName, key });
  if (!taken || taken.expired) return false;
  const ended = await findEnded(database.sql, { id: taken.predictionId, userId, modelName });
  return !ended || isKept(ended);
}

/**
 * Gives the key free for the next try, unless the prediction was accepted and only the answer was lost. Without the
 * database that cannot be known: then it is done as soon as it is back, and nobody waits for it here.
 */
async function giveFree(
  { database, log }: { database: Database; log: Log },
  scope: IdempotencyScope,
  predictionId: string,
): Promise<void> {
  const attempt = async () => {
    if (!(await isKnown(database.sql, predictionId))) await dropIdempotencyKey(database.sql, scope, predictionId);
  };
  const again = async () => {
    for (const until = Date.now() + retriedMs; Date.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      const isDone = await attempt().then(
        () => true,
        () => false,
      );
      if (isDone) return;
    }
  };
  await attempt().catch((error) => {
    log.warn({ prediction_id: predictionId, err: error }, "An Idempotency-Key could not be given free, trying again");
    void again();
  });
}

function isKept({ status, error }: EndedPrediction): boolean {
  return status !== 499 && !storedFault(error)?.retryable;
}
