import { Fault } from "../../kernel/errors.ts";
import type { Model } from "../models/index.ts";
import type { CheckedInput } from "../predictions/index.ts";
import { answerOfOutput } from "./answer-of-output.ts";
import type { McpToolsContext } from "./context.ts";
import { formOfArguments } from "./form-of-arguments.ts";
import type { ToolAnswer, ToolCall } from "./offered-tool.ts";

/**
 * Runs a model for a client that is connected to this node, as the synchronous route does; a model that streams is
 * waited for. Rejects with the fault that the route would answer with.
 */
export async function callModel(context: McpToolsContext, call: ToolCall, model: Model): Promise<ToolAnswer> {
  const { caller, signal, onText } = call;
  const input = await acceptArguments(context, call, model);
  try {
    const { predictionId, outcome } = await context.predictions.run({
      caller,
      model,
      route: "sync",
      input,
      onHeld: (held) => {
        if (signal.aborted) held.stop("left");
        else signal.addEventListener("abort", () => held.stop("left"), { once: true });
      },
      onFragment: (_field, text) => onText(text),
    });
    if (outcome.kind === "failed") throw outcome.fault;
    return await answerOfOutput(context, call, predictionId, outcome);
  } finally {
    await input.dispose();
  }
}

/** Funds and limits come before the input in the order of refusals, and a wrong call counts like a right one. */
async function acceptArguments(
  { readInput, predictions }: McpToolsContext,
  { caller, arguments: given, signal }: ToolCall,
  model: Model,
): Promise<CheckedInput> {
  const extras = { user: false, webhook: false };
  const readForm = formOfArguments(model.manifest, given);
  try {
    return await readInput({ caller, model, extras, readForm, signal });
  } catch (error) {
    if (error instanceof Fault && error.status === 422) {
      await predictions.look({ caller, model, route: "sync", counts: true });
    }
    throw error;
  }
}
