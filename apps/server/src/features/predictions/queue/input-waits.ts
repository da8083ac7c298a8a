import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import { type Fault, fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Model } from "../../models/index.ts";
import type { UnreadFile } from "../input/stored-input.ts";
import type { ClaimedJob } from "../prediction.ts";

/** Long enough that many predictions do not retry a file store that is away in a tight loop. */
const firstPauseMs = 2_000;
/** The prediction uses a slot of the model during the pause, and should start soon after the store is back. */
const longestPauseMs = 60_000;
/** A download that breaks this often, from a store that answers, will hardly ever succeed. */
const breaksAllowed = 5;

type Verdict = { pauseMs: number } | { failure: Fault };

export interface InputWaits {
  judge(job: ClaimedJob, model: Model, unread: UnreadFile, failure: Fault): Promise<Verdict>;
  /** To be called when the prediction has ended here. */
  forget(predictionId: string): void;
}

/**
 * Decides how long queued predictions wait for input that could not be read: as long as allowed while the store is away,
 * but only a few times if the store answers and the download breaks. Each node counts breaks for itself, so it takes longer
 * if several nodes try.
 */
export function createInputWaits({ blobs, log }: { blobs: BlobStore; log: Log }): InputWaits {
  const breaks = new Map<string, { times: number; until: number }>();

  function countBreak(id: string, until: number): number {
    // Removes predictions that ended on another node.
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
      const details = { prediction_id: job.id, pause_ms: pauseMs, err: failure };
      if (unread.brokeOff && (await answers(blobs, unread.key))) {
        const times = countBreak(job.id, until);
        if (isBrokenForGood(times)) return { failure: brokenInput(times, failure) };
        log.warn(details, "The download of a queued prediction's input broke off; retrying");
      } else log.warn(details, "The file store is unavailable; a queued prediction waits for its input");
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

/** Retryable: a new request stores its files again. */
function brokenInput(times: number, cause: Fault): Fault {
  const why = `An input file could not be read: its download from the file store broke off ${times} times`;
  return fault("service_unavailable", why, { cause });
}

/** The model was not called yet, so retrying is free for as long as the prediction might have waited in the queue. */
function mayWaitUntil({ acceptedAt }: ClaimedJob, { manifest }: Model): number {
  return Date.parse(acceptedAt) + (manifest.max_queue_seconds + manifest.timeout_seconds) * 1000;
}

/** Doubles with each attempt. Each return to the queue and new claim, on any node, has raised the claim number by two. */
export function pauseBeforeNextTry(claim: number): number {
  const earlierTries = Math.floor((claim - 1) / 2);
  return Math.min(firstPauseMs * 2 ** earlierTries, longestPauseMs);
}

export function isBrokenForGood(breaks: number): boolean {
  return breaks >= breaksAllowed;
}
