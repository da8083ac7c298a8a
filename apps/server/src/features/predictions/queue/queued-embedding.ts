import type { InputValue } from "../../../engines/models/driver.ts";
import { canBeStored, type EmbeddingCall } from "../../../engines/models/embeddings.ts";
import { fault } from "../../../kernel/errors.ts";
import type { Terms } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import { chargedUsage } from "../admission/charge.rules.ts";
import { pricesInput, termsOfTexts } from "../admission/reserve.ts";
import { performEmbedding, storable } from "../execution/embed.ts";
import type { Execution } from "../execution/execute-prediction.ts";
import type { CheckedInput } from "../input/index.ts";
import { countedTokens, queuedInput, readQueued } from "./queued-input.ts";

/** Texts to embed later. */
export type QueuedEmbedding = Pick<EmbeddingCall, "texts" | "dimensions" | "extra">;

/** No field of a manifest can have this name. */
const field = "gantry:embedding";

/** The terms and the stored form of texts that a worker embeds later. */
export async function planQueuedEmbedding(
  deps: { estimateTokens(text: string): Promise<number> },
  { manifest }: Model,
  asked: QueuedEmbedding,
  mustCount: boolean,
): Promise<{ terms: Terms; input: Omit<CheckedInput, "dispose"> }> {
  const counted = mustCount || pricesInput(manifest) ? await deps.estimateTokens(asked.texts.join("\n")) : undefined;
  return { terms: termsOfTexts(manifest, counted ?? 0), input: queuedInput(field, asked, counted) };
}

/** How a worker performs a job, if the job is texts to embed. The vectors are the stored result. */
export function embeddingOfJob(
  input: Readonly<Record<string, InputValue>>,
  { bounds }: Terms,
): Pick<Execution, "perform" | "inputTokens"> {
  const { [field]: stored } = input;
  if (stored === undefined) return {};
  return {
    inputTokens: countedTokens(input),
    perform: async (...call) => {
      const asked = await readQueued<QueuedEmbedding>(stored);
      const perform = performEmbedding(asked, (vectors, usage) => {
        if (!canBeStored(vectors)) throw tooManyNumbers();
        return storable({ vectors, inputTokens: chargedUsage(usage, bounds).inputTokens });
      });
      return perform(...call);
    },
  };
}

function tooManyNumbers() {
  const msg = "The vectors of this request are too many to store. Split its texts over several requests.";
  return fault("value_error", msg, { loc: ["body", "input"] });
}
