import type { AgentSnapshot } from "@gantry/wire";
import type { SchemaFault, Schemas } from "../../../engines/schemas/schemas.ts";
import type { Run, Step } from "../run.ts";
import { freeOutput, isObject, jsonAnswer } from "./answer.rules.ts";
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
