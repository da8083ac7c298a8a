import { errorTable, newId } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import {
  dropIdempotencyKey,
  type EndedPrediction,
  findEnded,
  findIdempotencyKey,
  findLive,
  type IdempotencyScope,
  takeIdempotencyKey,
} from "./store.ts";

const longestKey = 255;
const lookAgainMs = 50;

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
export async function startIdempotent(database: Database, request: IdempotentRequest): Promise<IdempotentStart> {
  const { userId, modelName, route, key } = request;
  const scope: IdempotencyScope = { userId, scope: modelName, key };
  const fingerprint = `${route}:${request.fingerprint}`;
  for (;;) {
    const predictionId = newId("prediction");
    if (await takeIdempotencyKey(database.sql, scope, { fingerprint, predictionId })) {
      return { kind: "first", predictionId, refused: () => dropIdempotencyKey(database.sql, scope, predictionId) };
    }
    const taken = await findIdempotencyKey(database.sql, scope);
    if (!taken) continue;
    if (taken.fingerprint !== fingerprint) {
      throw fault("idempotency_key_reused", "The Idempotency-Key was used before with other fields or files", {
        loc: ["header", "idempotency-key"],
      });
    }
    const address = { id: taken.predictionId, userId, modelName };
    const ended = await findEnded(database.sql, address);
    if (ended && isKept(ended)) return { kind: "repeat", predictionId: taken.predictionId };
    if (!ended && (await findLive(database.sql, address))) return { kind: "repeat", predictionId: taken.predictionId };
    if (ended || taken.stale) await dropIdempotencyKey(database.sql, scope, taken.predictionId);
    else await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}

function isKept({ status, error }: EndedPrediction): boolean {
  const [first] = error ?? [];
  return status !== 499 && !(first && errorTable[first.type].retryable);
}
