import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "@gantry/wire";
import type { Database } from "../../../engines/database/database.ts";
import { fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Scope } from "../../accounts/index.ts";
import { stopReasons } from "../prediction.ts";
import { storedFault } from "../result/result-item.ts";
import { type EndedPrediction, findEnded, isKnown } from "../store.ts";
import {
  dropIdempotencyKey,
  findIdempotencyKey,
  type KeyAddress,
  renewIdempotencyKey,
  takeIdempotencyKey,
} from "./idempotency-store.ts";

const longestKey = 255;
const pollMs = 50;
/** For repeats that wait longer, usually for a download. */
const slowPollMs = 500;
/** A key that was taken within this time is not stale yet. */
const surelyOwnedMs = 1_000;
const retryMs = 1_000;
/** The key is stale by then. */
const retriedMs = 60_000;

type Route = "sync" | "async";

export interface IdempotentRequest extends Scope {
  /** The endpoint id. */
  modelName: string;
  route: Route;
  key: string;
  /** Of the form as sent. */
  fingerprint: string;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

export type IdempotentStart =
  /**
   * The first request with the key: run it under this id. `refused` releases the key if the request is not accepted.
   * `holdsKey` must be checked before admission: if reading the input took long, a repeat may have taken the key.
   */
  | { kind: "first"; predictionId: string; holdsKey(): Promise<boolean>; refused(): Promise<void> }
  /** The first request was accepted and may have ended. */
  | { kind: "repeat"; predictionId: string };

/** Another request has taken the key and goes on; this one is its repeat. */
export class KeyTakenOver extends Error {}

/** The header's value. */
export type PresentedKey = string | string[];

export function isIdempotencyKey(presented: PresentedKey): presented is string {
  return typeof presented === "string" && presented.length > 0 && presented.length <= longestKey;
}

export function checkIdempotencyKey(presented: PresentedKey): string;
export function checkIdempotencyKey(presented: PresentedKey | undefined): string | undefined;
export function checkIdempotencyKey(presented: PresentedKey | undefined): string | undefined {
  if (presented === undefined || isIdempotencyKey(presented)) return presented;
  throw fault("value_error", `Idempotency-Key must have 1 to ${longestKey} characters`, {
    loc: ["header", "idempotency-key"],
  });
}

/**
 * Decides whether a request is the first with its Idempotency-Key. A repeat waits while the first is being accepted.
 * Outcomes that may be retried (cancelled, or retryable) are not kept, so the next request becomes the first.
 */
export async function startIdempotent(
  deps: { database: Database; nodeId: string; log: Log },
  request: IdempotentRequest,
): Promise<IdempotentStart> {
  const { sql } = deps.database;
  const { userId, onlyKeyIds, modelName, route, key, signal } = request;
  const address: KeyAddress = { userId, scope: idempotencyScope(modelName, request), key };
  const fingerprint = keptFingerprint(route, request.fingerprint);
  for (let pauseMs = pollMs; ; ) {
    signal.throwIfAborted();
    const predictionId = newId("prediction");
    const takenAt = performance.now();
    if (await takeIdempotencyKey(sql, address, { id: predictionId, fingerprint }, deps.nodeId)) {
      return {
        kind: "first",
        predictionId,
        holdsKey: async () =>
          performance.now() - takenAt < surelyOwnedMs || renewIdempotencyKey(sql, address, predictionId),
        refused: () => releaseKey(deps, address, predictionId),
      };
    }
    const taken = await findIdempotencyKey(sql, address, [address.scope]);
    if (!taken) continue;
    const likeness = compareWithFirst(fingerprint, taken.fingerprint);
    if (likeness !== "same") {
      throw fault("idempotency_key_reused", `The Idempotency-Key was used before ${otherwise[likeness]}`, {
        loc: ["header", "idempotency-key"],
      });
    }
    const ended = await findEnded(sql, { id: taken.id, userId, onlyKeyIds, modelName });
    if (ended && isKept(ended)) return { kind: "repeat", predictionId: taken.id };
    // It may have ended between the two queries, so the last one checks live and ended predictions.
    if (!ended && (await isKnown(sql, taken.id))) return { kind: "repeat", predictionId: taken.id };
    if (ended || taken.stale) await dropIdempotencyKey(sql, address, taken.id);
    else {
      await sleep(pauseMs);
      pauseMs = Math.min(pauseMs * 1.5, slowPollMs);
    }
  }
}

const otherwise = { other_input: "with other fields or files", other_route: "on another route of this model" };

/**
 * Whether a request with this key may be a repeat, before its body is read. A repeat receives the first answer even if the
 * model, funds or limits would refuse it now.
 */
export async function mayBeRepeat(
  { sql }: Database,
  { key, ...request }: Pick<IdempotentRequest, keyof Scope | "modelName" | "key">,
): Promise<boolean> {
  const taken = await findIdempotencyKey(sql, { userId: request.userId, key }, [
    idempotencyScope(request.modelName, request),
  ]);
  if (!taken || taken.expired) return false;
  const ended = await findEnded(sql, { ...request, id: taken.id });
  return !ended || isKept(ended);
}

/**
 * Releases the key for the next attempt, unless the prediction was accepted and only the reply was lost. Without the
 * database this cannot be known, so it is retried in the background.
 */
async function releaseKey(
  { database: { sql }, log }: { database: Database; log: Log },
  address: KeyAddress,
  predictionId: string,
): Promise<void> {
  const attempt = async () => {
    if (!(await isKnown(sql, predictionId))) await dropIdempotencyKey(sql, address, predictionId);
  };
  const retry = async () => {
    for (const until = performance.now() + retriedMs; performance.now() < until; ) {
      await sleep(retryMs, undefined, { ref: false });
      const isDone = await attempt().then(
        () => true,
        () => false,
      );
      if (isDone) return;
    }
  };
  await attempt().catch((error) => {
    log.warn({ prediction_id: predictionId, err: error }, "An Idempotency-Key could not be released; retrying");
    void retry();
  });
}

/** Whether a waiting repeat becomes the first request. A client that cancelled does not want another run. */
export function leavesNoAnswer(ended: EndedPrediction): boolean {
  return !isKept(ended) && !isCancelled(ended);
}

/** Status 499 without a cancellation: the prediction was lost with its node. */
export function isLost(ended: EndedPrediction): boolean {
  return ended.status === 499 && !isCancelled(ended);
}

function isCancelled({ error }: EndedPrediction): boolean {
  return error?.[0]?.msg === stopReasons.cancelled().issues[0].msg;
}

function isKept({ status, error }: EndedPrediction): boolean {
  return status !== 499 && !storedFault(error)?.retryable;
}

/** Marks fingerprints of the form as sent. Older ones were of the input as read. */
const ofForm = "form";

export function keptFingerprint(route: Route, fingerprint: string): string {
  return `${route}:${ofForm}:${fingerprint}`;
}

/**
 * Compares a request with the first one under its key. An older fingerprint includes defaults and fetched bytes that may
 * have changed, so any repeat on the same route counts as the same request. Refusing it could charge the caller twice.
 */
export function compareWithFirst(own: string, first: string): "same" | "other_input" | "other_route" {
  const [ownRoute] = own.split(":");
  const [firstRoute, kind] = first.split(":");
  if (firstRoute !== ownRoute) return "other_route";
  return own === first || kind !== ofForm ? "same" : "other_input";
}

/** A caller that sees only some keys has a scope of its own, so that it cannot fetch another key's answer. */
export function idempotencyScope(what: string, { onlyKeyIds }: Scope): string {
  if (onlyKeyIds === null) return what;
  return `${what} ${typeof onlyKeyIds === "string" ? onlyKeyIds : onlyKeyIds.seatId}`;
}
