import type { AgentSnapshot } from "@gantry/wire";
import type { SchemaFault, Schemas } from "../../../engines/schemas/schemas.ts";
import type { Run, Step } from "../run.ts";
import { isCutText, joinedText } from "./cut-answers.rules.ts";
import { lengthLimit } from "./prompts.rules.ts";
import { RunFailed } from "./stopped.ts";

export interface AnswerDeps {
  schemas: Pick<Schemas, "validate">;
}

interface Answered {
  run: Pick<Run, "userId">;
  snapshot: AgentSnapshot;
}

const formatTries = 3;
const faultsTold = 3;

/** The last thing that the model said to the goal; a summary is none. */
export function lastStep(steps: readonly Step[]): Step | undefined {
  return steps.findLast((step) => step.kind !== "summary");
}

/** The run's output, if what the model said last is that. */
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
  const tries = steps.filter((step) => step.kind === "format").length;
  if (tries < formatTries) return undefined;
  const told = faults.slice(0, faultsTold).map(({ path, message }) => `${path.join(".") || "the answer"}: ${message}`);
  throw new RunFailed("internal", `The model's answer never satisfied the output schema: ${told.join("; ")}`);
}

/** Whether the next call, if there is one, is about the form of the answer. */
export async function isFormattedAfter(deps: AnswerDeps, answered: Answered, step: Step): Promise<boolean> {
  const { snapshot } = answered;
  if (step.kind === "format") return true;
  if (step.kind !== "work" || step.message.toolCalls.length > 0) return false;
  if (!snapshot.output_schema && isCutText(step)) return false;
  if (snapshot.instructions.formatting) return true;
  return snapshot.output_schema !== null && (await faultsOf(deps, answered, step)).length > 0;
}

/** What is wrong with a step's text as the run's output. One that was cut is wrong, whatever it looks like. */
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
  if (!isObject(value)) return [{ path: [], message: "must be a JSON object" }];
  return schemas.validate(schema ?? {}, value, run.userId);
}

/** The JSON value in what a model answered: the whole text, or the one block of code or object in it. */
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
      // The next one may be it.
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

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Levels of nesting: what is deeper overflows the stack of whoever writes it down. */
const deepest = 500;

/**
 * Without a schema: the object that the model answered, else its text. Only a text that is JSON as a whole counts, or is
 * as a whole one block of it: an object among words is a part of what was said.
 */
export function freeOutput(text: string): Record<string, unknown> {
  const trimmed = text.trim();
  const isBlock = trimmed.startsWith("```") && trimmed.endsWith("```");
  const whole = firstJson([trimmed, isBlock ? trimmed.slice(3, -3).replace(/^[\w-]+/, "") : undefined]);
  return isObject(whole) && isWritable(whole, deepest) ? whole : { text };
}

/** Whether it can be written down as what it was read from: a number too large for one has become Infinity. */
function isWritable(value: unknown, levels: number): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((entry) => isWritable(entry, levels - 1));
}
