import { newId } from "@gantry/wire";
import type { Database } from "../../../engines/database/database.ts";
import { fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Scope } from "../../accounts/index.ts";
import { stopReasons } from "../execution/held-predictions.ts";
import { storedFault } from "../result/result-item.ts";
import { type EndedPrediction, findEnded, isKnown } from "../store.ts";
import {
  dropIdempotencyKey,
  findIdempotencyKey,
  type IdempotencyScope,
  renewIdempotencyKey,
  takeIdempotencyKey,
} from "./idempotency-store.ts";

const longestKey = 255;
const lookAgainMs = 50;
/** Who has to wait longer than a moment waits for a download. */
const lookSeldomMs = 500;
/** A key that was taken within this time is still held; it gets free by its age a minute after. */
const surelyHeldMs = 1_000;
const retryMs = 1_000;
/** By then the key is free by its age. */
const retriedMs = 60_000;

export interface IdempotentRequest extends Scope {
  /** The endpoint id. */
  modelName: string;
  route: "sync" | "async";
  key: string;
  /** Of the form as it was sent. */
  fingerprint: string;
  /** Aborted when the client leaves. */
  signal: AbortSignal;
}

export type IdempotentStart =
  /**
   * Nobody used the key: run it under this id; `refused` gives the key free when it is not accepted. Before it is
   * admitted `holdsKey` must say so: where its input took long to fetch, another may have taken it for dead.
   */
  | { kind: "first"; predictionId: string; holdsKey(): Promise<boolean>; refused(): Promise<void> }
  /** The first one is accepted, perhaps ended. */
  | { kind: "repeat"; predictionId: string };

/** The one that goes on is another's: this request is its repeat. */
export class KeyTakenOver extends Error {}

/** As the header brings it. */
export type PresentedKey = string | string[];

export function isIdempotencyKey(presented: PresentedKey): presented is string {
  return typeof presented === "string" && presented.length > 0 && presented.length <= longestKey;
}

export function checkIdempotencyKey(presented: PresentedKey): string;
export function checkIdempotencyKey(presented: PresentedKey | undefined): string | undefined;
export function checkIdempotencyKey(presented: PresentedKey | undefined): string | undefined {
  if (presented === undefined || isIdempotencyKey(presented)) return presented;
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
  const { userId, onlyKeyId, modelName, route, key, signal } = request;
  const scope: IdempotencyScope = { userId, scope: idempotencyScope(modelName, request), key };
  const fingerprint = keptFingerprint(route, request.fingerprint);
  for (let pauseMs = lookAgainMs; ; ) {
    signal.throwIfAborted();
    const predictionId = newId("prediction");
    const takenAt = performance.now();
    if (await takeIdempotencyKey(database.sql, scope, { fingerprint, predictionId, nodeId })) {
      return {
        kind: "first",
        predictionId,
        holdsKey: async () =>
          performance.now() - takenAt < surelyHeldMs || renewIdempotencyKey(database.sql, scope, predictionId),
        refused: () => giveFree(deps, scope, predictionId),
      };
    }
    const taken = await findIdempotencyKey(database.sql, scope);
    if (!taken) continue;
    const likeness = compareWithFirst(fingerprint, taken.fingerprint);
    if (likeness !== "same") {
      throw fault("idempotency_key_reused", `The Idempotency-Key was used before ${otherwise[likeness]}`, {
        loc: ["header", "idempotency-key"],
      });
    }
    const address = { id: taken.predictionId, userId, onlyKeyId, modelName };
    const ended = await findEnded(database.sql, address);
    if (ended && isKept(ended)) return { kind: "repeat", predictionId: taken.predictionId };
    // It may have ended between the looks, so the last one asks for both.
    if (!ended && (await isKnown(database.sql, taken.predictionId)))
      return { kind: "repeat", predictionId: taken.predictionId };
    if (ended || taken.stale) await dropIdempotencyKey(database.sql, scope, taken.predictionId);
    else {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      pauseMs = Math.min(pauseMs * 1.5, lookSeldomMs);
    }
  }
}

const otherwise = { other_input: "with other fields or files", other_route: "on another route of this model" };

/**
 * Whether a request with this key may be a repeat, as far as that can be told before its body is read: a repeat gets the
 * first answer whatever the model, funds and limits say now, so they must not turn it away before.
 */
export async function mayBeRepeat(
  database: Database,
  { key, ...request }: Pick<IdempotentRequest, keyof Scope | "modelName" | "key">,
): Promise<boolean> {
  const scope = { userId: request.userId, scope: idempotencyScope(request.modelName, request), key };
  const taken = await findIdempotencyKey(database.sql, scope);
  if (!taken || taken.expired) return false;
  const ended = await findEnded(database.sql, { ...request, id: taken.predictionId });
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
    for (const until = performance.now() + retriedMs; performance.now() < until; ) {
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

/** Whether who waited for it becomes the first anew. Who cancelled it wants no other run. */
export function leavesNoAnswer(ended: EndedPrediction): boolean {
  return !isKept(ended) && !isCancelled(ended);
}

/** Lost with its node: 499 as one that was cancelled, but nobody did. */
export function isLost(ended: EndedPrediction): boolean {
  return ended.status === 499 && !isCancelled(ended);
}

function isCancelled({ error }: EndedPrediction): boolean {
  return error?.[0]?.msg === stopReasons.cancelled().issues[0].msg;
}

function isKept({ status, error }: EndedPrediction): boolean {
  return status !== 499 && !storedFault(error)?.retryable;
}

type Route = "sync" | "async";

/** Tells fingerprints of the form as it was sent from older ones, which were of the input as it was read. */
const ofForm = "form";

/** What is kept of a request under its Idempotency-Key. */
export function keptFingerprint(route: Route, fingerprint: string): string {
  return `${route}:${ofForm}:${fingerprint}`;
}

/**
 * How a request compares with the first one under its key. An older fingerprint was of defaults and fetched bytes that may
 * be others by now, so nothing can be held against a repeat on the same route: told to be another, it would be paid again.
 */
export function compareWithFirst(own: string, first: string): "same" | "other_input" | "other_route" {
  const [ownRoute] = own.split(":");
  const [firstRoute, kind] = first.split(":");
  if (firstRoute !== ownRoute) return "other_route";
  return own === first || kind !== ofForm ? "same" : "other_input";
}

/** What an Idempotency-Key is used for. Keys limited to models have their own, or one could fetch another's answer. */
export function idempotencyScope(what: string, { onlyKeyId }: Scope): string {
  return onlyKeyId === null ? what : `${what} ${onlyKeyId}`;
}
