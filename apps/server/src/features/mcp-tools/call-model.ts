import type { Model } from "../models/index.ts";
import { type CheckedInput, countWrongInput, formOfValues } from "../predictions/index.ts";
import { answerOfOutput, figuresOf } from "./answer-of-output.ts";
import type { McpToolsContext } from "./context.ts";
import { tellFailure } from "./failure-result.ts";
import type { ToolAnswer, ToolCall } from "./offered-tool.ts";

/**
 * Runs a model for a client that is connected to this node, as the synchronous route does; a model that streams is
 * waited for. Rejects with the fault that the route would
 * answer with where it was not accepted.
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
      onLive: (held) => {
        if (signal.aborted) held.stop("left");
        else signal.addEventListener("abort", () => held.stop("left"), { once: true });
      },
      onFragment: (_field, text) => onText(text),
    });
    if (outcome.kind === "done") return await answerOfOutput(context, call, predictionId, outcome);
    // What was used before it was cancelled is paid for: that is told as well.
    const { meta, ...told } = tellFailure(context, call, outcome.fault);
    return { ...told, meta: { ...meta, ...figuresOf(predictionId, outcome) } };
  } finally {
    await input.dispose();
  }
}

function acceptArguments(
  { readInput, predictions }: McpToolsContext,
  { caller, arguments: given, signal }: ToolCall,
  model: Model,
): Promise<CheckedInput> {
  const extras = { user: false, webhook: false };
  const readForm = formOfValues(model.manifest, given);
  return countWrongInput(predictions.look, { caller, model, route: "sync" }, () =>
    readInput({ caller, model, extras, readForm, signal }),
  );
}
