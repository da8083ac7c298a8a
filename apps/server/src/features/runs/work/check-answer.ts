import type { AgentSnapshot } from "@gantry/wire";
import type { SchemaFault, Schemas } from "../../../engines/schemas/schemas.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import type { Run, Step } from "../run.ts";
import type { RunChange } from "../run-writer.ts";
import { isCutText, joinedText } from "./cut-answers.rules.ts";
import { lengthLimit } from "./prompts.rules.ts";
import { RunFailed } from "./stopped.ts";
import { truncateResult } from "./tool-results.rules.ts";

export interface AnswerDeps {
  schemas: Pick<Schemas, "validate">;
}

interface Answered {
  run: Pick<Run, "userId">;
  snapshot: AgentSnapshot;
}

const maxFormatSteps = 3;
const shownFaults = 3;

/** The last step that is not a summary. */
export function lastStep(steps: readonly Step[]): Step | undefined {
  return steps.findLast((step) => step.kind !== "summary");
}

/** The output of the run, if the last step is the answer. */
export async function outputOf(
  deps: AnswerDeps,
  answered: Answered,
  steps: readonly Step[],
): Promise<Record<string, unknown> | undefined> {
  const { snapshot } = answered;
  const last = lastStep(steps);
  if (!last || last.kind === "plan" || last.message.toolCalls.length > 0) return undefined;
  if (last.kind === "work" && snapshot.instructions.formatting) return undefined;
  if (!snapshot.output_schema) return isCutText(last) ? undefined : freeOutput(joinedText(steps));
  const faults = await faultsOf(deps, answered, last);
  if (faults.length === 0) return jsonAnswer(last.message.text) as Record<string, unknown>;
  const attempts = steps.filter((step) => step.kind === "format").length;
  if (attempts < maxFormatSteps) return undefined;
  const reasons = faults
    .slice(0, shownFaults)
    .map(({ path, message }) => `${path.join(".") || "the answer"}: ${message}`);
  throw new RunFailed("internal", `The model's answer never satisfied the output schema: ${reasons.join("; ")}`);
}

/** The change that ends a run with this output. */
export function doneWith(output: Record<string, unknown>): Required<Pick<RunChange, "events" | "end">> {
  return {
    events: [{ type: "completed", data: { output } }],
    end: { status: "done", output, told: truncateResult(JSON.stringify(output)), told_error: false },
  };
}

export async function isFormattedAfter(deps: AnswerDeps, answered: Answered, step: Step): Promise<boolean> {
  const { snapshot } = answered;
  if (step.kind === "format") return true;
  if (step.kind !== "work" || step.message.toolCalls.length > 0) return false;
  if (!snapshot.output_schema && isCutText(step)) return false;
  if (snapshot.instructions.formatting) return true;
  return snapshot.output_schema !== null && (await faultsOf(deps, answered, step)).length > 0;
}

/** Issues of a step's text as the output. Text that was cut off is never valid. */
export async function faultsOf(
  { schemas }: AnswerDeps,
  { run, snapshot: { output_schema: schema } }: Answered,
  { message }: Step,
): Promise<readonly SchemaFault[]> {
  if (message.cutAtTokens !== undefined) {
    return [{ path: [], message: `was cut off at ${lengthLimit(message.cutAtTokens)}` }];
  }
  const value = jsonAnswer(message.text);
  if (value === undefined) return [{ path: [], message: "must be JSON" }];
  if (!isRecord(value)) return [{ path: [], message: "must be a JSON object" }];
  return schemas.validate(schema ?? {}, value, run.userId);
}

/** The JSON value in an answer: the whole text, or its only code block or object. */
export function jsonAnswer(text: string): unknown {
  const trimmed = text.trim();
  return firstJson([trimmed, fenced(trimmed), braced(trimmed)]);
}

function firstJson(candidates: readonly (string | undefined)[]): unknown {
  for (const candidate of candidates) {
    if (candidate === undefined || candidate === "") continue;
    try {
      return JSON.parse(candidate);
    } catch {
      // Try the next candidate.
    }
  }
  return undefined;
}

function fenced(text: string): string | undefined {
  const start = text.indexOf("```");
  const end = text.lastIndexOf("```");
  if (start < 0 || end <= start) return undefined;
  return text.slice(text.indexOf("\n", start) + 1, end).trim();
}

function braced(text: string): string | undefined {
  const start = text.indexOf("{");
  const end = text.lastIndexOf("}");
  return start < 0 || end <= start ? undefined : text.slice(start, end + 1);
}

/** JSON.stringify overflows the stack at deeper nesting. */
const maxDepth = 500;

/** Without a schema: the object, if the whole text is JSON or one code block; otherwise the text. */
export function freeOutput(text: string): Record<string, unknown> {
  const trimmed = text.trim();
  const isBlock = trimmed.startsWith("```") && trimmed.endsWith("```");
  const whole = firstJson([trimmed, isBlock ? trimmed.slice(3, -3).replace(/^[\w-]+/, "") : undefined]);
  return isRecord(whole) && isWritable(whole, maxDepth) ? whole : { text };
}

/** Whether the value survives JSON.stringify: a number that is too large has become Infinity. */
function isWritable(value: unknown, levels: number): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((entry) => isWritable(entry, levels - 1));
}
