import { fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import type { Runnable } from "../agents/index.ts";
import type { Model } from "../models/index.ts";
import { type CheckedInput, countWrongInput, formOfValues } from "../predictions/index.ts";
import { answerOfOutput, figuresOf, linksWithin } from "./answer-of-output.ts";
import { type FoundTool, findTool } from "./catalog.ts";
import type { AgentRunFigures, McpToolsContext, ToolAnswer, ToolCall } from "./context.ts";
import { failureAnswer, refusalAnswer } from "./refusal.ts";

/** Calls a tool. Failures are answers. Undefined if the caller has no such tool. */
export async function callTool(context: McpToolsContext, call: ToolCall): Promise<ToolAnswer | undefined> {
  try {
    const found = await findTool(context, call.caller, call.name);
    return found && (await callFound(context, call, found));
  } catch (error) {
    if (call.signal.aborted) return refusalAnswer(fault("generation_cancelled", "The call was cancelled"));
    return failureAnswer(context, call, error);
  }
}

function callFound(context: McpToolsContext, call: ToolCall, found: FoundTool): Promise<ToolAnswer> {
  switch (found.kind) {
    case "model":
      return callModel(context, call, found.model);
    case "agent":
      return callAgent(context, call, found.runnable);
    case "action":
      return callAction(context, call);
  }
}

async function callAgent(
  context: McpToolsContext,
  { caller, arguments: given, baseUrl, signal, onNote }: ToolCall,
  { agent, revision }: Runnable,
): Promise<ToolAnswer> {
  const { restore } = context.objectParameters(revision.snapshot.input_schema);
  const input = restore ? restore({ ...given }) : given;
  if (!isRecord(input))
    throw fault("value_error", "The input of an agent must be an object", { loc: ["body", "input"] });
  const address = { agentId: agent.id, revisionId: revision.id };
  const end = await context.runAgent(caller, { ...address, input, baseUrl, signal, onNote });
  const meta = metaOf(end);
  if (end.status === "done") {
    const { content, isError } = asJson(end.output);
    const links = await linksWithin(context, { caller, baseUrl }, end.output);
    return { content: [...content, ...links], isError, structured: end.output, meta };
  }
  if (end.status === "error") {
    const { type, message } = end.error;
    return {
      content: [{ type: "text", text: `The run failed (${type}): ${message}` }],
      isError: true,
      meta: { ...meta, "gantry/error": { type } },
    };
  }
  const text = `The run is still running. Fetch its result later at ${baseUrl}/v1/runs/${end.runId}`;
  return {
    content: [{ type: "text", text }],
    structured: { run_id: end.runId, status: "running" },
    isError: false,
    meta,
  };
}

function metaOf({ runId, costMicros, usage }: AgentRunFigures): Record<string, unknown> {
  return {
    "gantry/run_id": runId,
    "gantry/price": dollarsOfMicros(costMicros),
    "gantry/usage": {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
  };
}

/** Answers the form for models: secrets are masked and long lists are truncated. */
async function callAction(
  { idp }: McpToolsContext,
  { caller, name, arguments: given, signal }: ToolCall,
): Promise<ToolAnswer> {
  const { forModel } = await idp.runAction(caller.userId, name, given, signal);
  return { ...asJson(forModel), structured: { ...forModel } };
}

function asJson(value: unknown): { content: ToolAnswer["content"]; isError: false } {
  return { content: [{ type: "text", text: JSON.stringify(value) }], isError: false };
}

/** Runs a model like the synchronous route and waits for streamed output. Rejects if the prediction is not accepted. */
export async function callModel(context: McpToolsContext, call: ToolCall, model: Model): Promise<ToolAnswer> {
  const { caller, origin, signal, onText } = call;
  const input = await acceptArguments(context, call, model);
  try {
    const { predictionId, outcome } = await context.predictions.run({
      caller,
      model,
      route: "sync",
      door: "mcp",
      input,
      origin,
      onLive: (live) => {
        if (signal.aborted) live.stop("left");
        else signal.addEventListener("abort", () => live.stop("left"), { once: true });
      },
      onFragment: (_field, text) => onText(text),
    });
    if (outcome.kind === "done") return await answerOfOutput(context, call, predictionId, outcome);
    // A cancelled prediction is charged for what it used.
    const { meta, ...answer } = failureAnswer(context, call, outcome.fault);
    return { ...answer, meta: { ...meta, ...figuresOf(predictionId, outcome) } };
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
