import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import { type Fault, fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Model } from "../../models/index.ts";
import type { UnreadFile } from "../input/stored-input.ts";
import type { ClaimedJob } from "../store.ts";

/** What becomes of a prediction whose input could not be read: it is tried again after a pause, or fails. */
type Verdict = { pauseMs: number } | { failure: Fault };

export interface InputWaits {
  judge(job: ClaimedJob, model: Model, unread: UnreadFile, failure: Fault): Promise<Verdict>;
  /** It has been brought to an end here. */
  forget(predictionId: string): void;
}

/**
 * How long queued predictions wait for inputs that could not be read. A store that is away is waited for; from one that
 * answers, a file whose download breaks off again and again is given up. The breaks are counted by each node for itself:
 * where several try in turn it only takes longer.
 */
export function createInputWaits({ blobs, log }: { blobs: BlobStore; log: Log }): InputWaits {
  const breaks = new Map<string, { times: number; until: number }>();

  function countBreak(id: string, until: number): number {
    // Those that another node brought to their end.
    for (const [other, entry] of breaks) if (entry.until < Date.now()) breaks.delete(other);
    const times = (breaks.get(id)?.times ?? 0) + 1;
    breaks.set(id, { times, until });
    return times;
  }

  return {
    async judge(job, model, unread, failure) {
      const until = mayWaitUntil(job, model);
      const left = until - Date.now();
      if (left <= 0) return { failure };
      const pauseMs = Math.min(pauseBeforeNextTry(job.claim), left);
      const told = { prediction_id: job.id, pause_ms: pauseMs, err: failure };
      if (unread.brokeOff && (await answers(blobs, unread.key))) {
        const times = countBreak(job.id, until);
        if (isBrokenForGood(times)) return { failure: brokenInput(times, failure) };
        log.warn(told, "The download of a queued prediction's input broke off, it is tried again");
      } else log.warn(told, "The file store is away, a queued prediction waits for its input");
      return { pauseMs };
    },
    forget: (predictionId) => void breaks.delete(predictionId),
  };
}

async function answers(blobs: BlobStore, key: string): Promise<boolean> {
  return blobs.stat(key).then(
    () => true,
    () => false,
  );
}

/** Worth a repeat: that stores its files anew. */
function brokenInput(times: number, cause: Fault): Fault {
  const why = `An input file could not be read whole: its download from the file store broke off ${times} times`;
  return fault("service_unavailable", why, { cause });
}

/**
 * A model was not called yet, so what waits for its input may be tried again, as long as it might have waited in the line. What
 * cannot be stored at its end is not: each try would call, and perhaps pay, the model behind it once more.
 */
function mayWaitUntil({ acceptedAt }: ClaimedJob, { manifest }: Model): number {
  return Date.parse(acceptedAt) + (manifest.max_queue_seconds + manifest.timeout_seconds) * 1000;
}

/** Many that meet a file store that is away must not go round in a hurry. */
const firstPauseMs = 2_000;
/** The slot of the model is held meanwhile, and a store that is back is to be noticed soon. */
const longestPauseMs = 60_000;

/** One whose download breaks off so often, from a store that answers, will hardly ever be read whole. */
const breaksAllowed = 5;

/**
 * Until a prediction whose input could not be read goes back into the line. Each time it went there and was claimed again
 * its claim number has grown by two, on whichever node.
 */
export function pauseBeforeNextTry(claim: number): number {
  const earlierTries = Math.floor((claim - 1) / 2);
  return Math.min(firstPauseMs * 2 ** earlierTries, longestPauseMs);
}

export function isBrokenForGood(breaks: number): boolean {
  return breaks >= breaksAllowed;
}
