import { createTranscript, type TranscriptUpdate } from "@gantry/wire/transcript";
import { isUnavailable } from "../../../kernel/errors.ts";
import type { Fragment } from "../prediction.ts";
import type { PredictionAddress } from "../store.ts";
import { originalText } from "./fragments.rules.ts";
import { findTranscript, listFragments, notifyHolder } from "./fragments.ts";
import { awaitEnd, type ResultDeps } from "./read-result.ts";
import { failureBody, fileLinks } from "./result-item.ts";

const pollMs = 1_000;

/** Undefined if the database is unavailable; the next attempt may succeed. */
async function unlessUnavailable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isUnavailable(error)) return undefined;
    throw error;
  }
}

/**
 * The events of a prediction as the stream route would send them, from any node: live, or replayed after the end.
 *
 * - The node that runs it is notified that it has a follower, and again as long as no fragment arrives.
 * - After a crash the prediction runs again. Text that the follower already has is skipped; if the new text differs, the
 *   transcript restarts from its beginning.
 * - If this node shuts down or the database becomes unavailable, the events stop without the last one, and the client
 *   reconnects.
 */
export async function* followPrediction(
  deps: ResultDeps,
  address: PredictionAddress,
  { base, signal }: { base: string; signal: AbortSignal },
): AsyncGenerator<Record<string, unknown>> {
  const transcript = createTranscript();
  let position = { claim: 0, seq: 0 };
  let hasHolder = true;

  function* newPartsOf(fragments: readonly Fragment[]): Generator<Record<string, unknown>> {
    for (const { claim, seq, field, fragment } of fragments) {
      if (claim !== position.claim) transcript.restart();
      position = { claim, seq };
      yield* contentEvent(transcript.append([[field, originalText(fragment)]]));
    }
  }

  // Unknown ids are refused before anything is sent.
  let ended = await awaitEnd(deps, address, 0, signal);
  yield { prediction_id: address.id };
  const watch = deps.feed.watch(address.id);
  try {
    while (!ended && !signal.aborted && !deps.feed.isReleased) {
      const fragments = await unlessUnavailable(() => listFragments(deps.database.sql, address.id, position));
      yield* newPartsOf(fragments ?? []);
      if (hasHolder && fragments?.length === 0)
        hasHolder = (await unlessUnavailable(() => notifyHolder(deps.database.sql, address))) ?? true;
      ended = await unlessUnavailable(() => awaitEnd(deps, address, 0, signal));
      if (!ended) await watch.next(pollMs);
    }
  } finally {
    watch.stop();
  }
  if (!ended) return;
  if (!ended.output) {
    const stored = await unlessUnavailable(() => findTranscript(deps.database.sql, address));
    if (!stored) return;
    // The whole transcript of the last claim that produced any text.
    position = { claim: 0, seq: 0 };
    const lastClaim = stored.at(-1)?.claim;
    yield* newPartsOf(stored.filter(({ claim }) => claim === lastClaim));
    yield* contentEvent(transcript.finish());
    yield { ...failureBody(ended.error, base), status: ended.status };
  } else if (ended.streamDetails) {
    transcript.restart();
    yield* contentEvent(transcript.append(Object.entries(ended.output).filter(isText)));
    yield* contentEvent(transcript.finish());
    yield { output_data: {}, status: 200, stream_details: ended.streamDetails };
  } else {
    const files = await fileLinks(ended.id, ended.output, base, deps.linkOf);
    yield { output_data: ended.output, status: 200, files };
    yield { output_data: {}, status: 200 };
  }
}

function* contentEvent(update: TranscriptUpdate | undefined): Generator<Record<string, unknown>> {
  if (update) yield { ...update, status: 200 };
}

function isText(entry: [field: string, value: unknown]): entry is [string, string] {
  return typeof entry[1] === "string";
}
