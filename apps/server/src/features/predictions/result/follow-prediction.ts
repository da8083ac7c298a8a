import { createTranscript, type TranscriptUpdate } from "@gantry/wire/transcript";
import type { Database } from "../../../engines/database/database.ts";
import { Fault } from "../../../kernel/errors.ts";
import { type Fragment, originalText } from "../execution/fragments.rules.ts";
import { findLastWords, followedChannel, listFragments, notifyHolder } from "../execution/fragments.ts";
import type { HeldPredictions } from "../execution/held-predictions.ts";
import type { PredictionAddress } from "../store.ts";
import { awaitEnd, type ResultDeps } from "./read-result.ts";
import { failureBody, fileLinks } from "./result-item.ts";

const lookAgainMs = 1_000;

/** Undefined when the database is away for the moment: nothing is known, and the next look may find it back. */
async function unlessAway<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof Fault && error.type === "service_unavailable") return undefined;
    throw error;
  }
}

/** What this node holds is written down from the moment on in which somebody follows it, on whatever node. */
export function watchFollowers(database: Database, held: HeldPredictions): Promise<{ stop(): Promise<void> }> {
  return database.listen(followedChannel, (id) => held.get(id)?.follow());
}

/**
 * The events of a prediction as the stream route would send them, from any node: live while it is live, replayed when it
 * has ended. The holder of one that has a client is told that it is followed; should the notice get lost, it is told again
 * as long as nothing comes, and what it never wrote comes with the end. A run that was repeated after a crash says its text
 * again: what the reader already has is left out, and a text that is another one is told from its beginning, as restarted.
 * Where this node goes down before it has ended, or the database goes away, the events end without the last one: the reader
 * comes back for the rest.
 */
export async function* followPrediction(
  deps: ResultDeps,
  address: PredictionAddress,
  { base, signal }: { base: string; signal: AbortSignal },
): AsyncGenerator<Record<string, unknown>> {
  const telling = createTranscript();
  let position = { claim: 0, seq: 0 };
  let hasHolder = true;

  function* newPartsOf(fragments: readonly Fragment[]): Generator<Record<string, unknown>> {
    for (const { claim, seq, field, fragment } of fragments) {
      if (claim !== position.claim) telling.beginAnew();
      position = { claim, seq };
      yield* contentEvent(telling.tell([[field, originalText(fragment)]]));
    }
  }

  // Unknown ids are refused before anything is sent.
  let ended = await awaitEnd(deps, address, 0, signal);
  yield { prediction_id: address.id };
  const watch = deps.notices.watch(address.id);
  try {
    while (!ended && !signal.aborted && !deps.notices.isReleased) {
      const fragments = await unlessAway(() => listFragments(deps.database.sql, address.id, position));
      yield* newPartsOf(fragments ?? []);
      if (hasHolder && fragments?.length === 0)
        hasHolder = (await unlessAway(() => notifyHolder(deps.database.sql, address))) ?? true;
      ended = await unlessAway(() => awaitEnd(deps, address, 0, signal));
      if (!ended) await watch.next(lookAgainMs);
    }
  } finally {
    watch.stop();
  }
  if (!ended) return;
  if (!ended.output) {
    const lastWords = await unlessAway(() => findLastWords(deps.database.sql, address));
    if (!lastWords) return;
    // From the first one on, of the last claim that said anything.
    position = { claim: 0, seq: 0 };
    const lastClaim = lastWords.at(-1)?.claim;
    yield* newPartsOf(lastWords.filter(({ claim }) => claim === lastClaim));
    yield* contentEvent(telling.finish());
    yield { ...failureBody(ended.error, base), status: ended.status };
  } else if (ended.streamDetails) {
    telling.beginAnew();
    yield* contentEvent(telling.tell(Object.entries(ended.output).filter(isText)));
    yield* contentEvent(telling.finish());
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
