import type { InputValue } from "../../../engines/models/driver.ts";
import type { Terms } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import { type DoorChat, performChat, planChat } from "../execution/converse.ts";
import type { Execution } from "../execution/execute-prediction.ts";
import type { CheckedInput } from "../input/index.ts";
import { streamedField } from "../prediction.ts";
import { countedTokens, queuedInput, readQueued } from "./queued-input.ts";

/** No field of a manifest can have these names. */
const field = "gantry:chat";

/** The terms and the stored form of a conversation that a worker performs later. */
export async function planQueuedChat(
  deps: { estimateTokens(text: string): Promise<number> },
  model: Model,
  chat: DoorChat,
  mustCount: boolean,
): Promise<{ terms: Terms; input: Omit<CheckedInput, "dispose"> }> {
  const { terms, maxTokens, inputTokens } = await planChat(deps, model, chat, mustCount);
  return { terms, input: queuedInput(field, { ...chat, maxTokens }, inputTokens) };
}

/** How a worker performs a job, if the job is a conversation. */
export function chatOfJob(
  model: Model,
  input: Readonly<Record<string, InputValue>>,
): Pick<Execution, "perform" | "inputTokens"> {
  const { [field]: stored } = input;
  if (stored === undefined) return {};
  const output = streamedField(model) ?? field;
  return {
    inputTokens: countedTokens(input),
    perform: async (driver, call, backend) => {
      const { maxTokens, ...chat } = await readQueued<DoorChat>(stored);
      const streamed = { ...chat, onText: (text: string) => call.onFragment(output, text) };
      return performChat(model, streamed, { maxTokens })(driver, call, backend);
    },
  };
}
