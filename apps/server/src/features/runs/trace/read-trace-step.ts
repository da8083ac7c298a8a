import { isId, type TraceStep, type TraceStepDetail } from "@gantry/wire";
import { fault } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import { type Confirmation, findConfirmation } from "../confirmations.ts";
import type { RunsContext } from "../context.ts";
import { imagesApart } from "../converse/conversation-input.rules.ts";
import { readOwnRun } from "../read-runs.ts";
import type { Run, Step } from "../run.ts";
import { seesAgent } from "../seen-agent.rules.ts";
import { findRun, listCalls, listSteps } from "../store.ts";
import { readEarlierTurns } from "../threads/earlier-turns.ts";
import { modelOf, windowOf } from "../work/access.ts";
import { findNotes } from "../work/notes-store.ts";
import { goalWithNotes } from "../work/prompts.rules.ts";
import { agentOf, collectSteps } from "./read-trace.ts";
import { isTextShown } from "./shown-text.rules.ts";
import { boundedMessages, sentMessages, shownMessage } from "./step-messages.rules.ts";
import { findCallResult, findReasoning, listShownArguments } from "./step-store.ts";

/** A step with the confirmation as the feature knows it. */
export interface StepDetail extends Omit<TraceStepDetail, "confirmation"> {
  confirmation?: Confirmation | undefined;
}

/**
 * A step of a trace with its content. Arguments are taken from events, which mask secrets and fixed values of the creator.
 * What the model was sent is for readers who see how the agent works.
 */
export async function readTraceStep(
  context: RunsContext,
  caller: Caller,
  runId: string,
  stepId: string,
): Promise<StepDetail> {
  const { sql } = context.database;
  const top = await readOwnRun(context, caller, runId);
  const { steps, agents } = await collectSteps(sql, caller, top);
  const step = steps.find(({ id }) => id === stepId);
  if (!step) throw fault("not_found", "Step not found");
  const run = step.run_id === top.id ? top : await findRun(sql, step.run_id);
  if (!run) throw fault("not_found", "Step not found");
  if (step.kind === "model") return { ...step, ...(await modelDetail(context, caller, run, step)) };
  if (step.kind === "queue") return { ...step };
  const stored = isId("confirmation", step.confirmation_id ?? "")
    ? await findConfirmation(sql, run.id, step.confirmation_id ?? "")
    : undefined;
  const confirmation = stored && { confirmation: { ...stored, agent: agentOf(agents, run) } };
  if (step.kind === "wait") return { ...step, arguments: stored?.arguments ?? {}, ...confirmation };
  const callId = step.call_id ?? "";
  const shown = (await listShownArguments(sql, run.id, [callId])).get(callId) ?? stored?.arguments;
  const [, number, position] = /-(\d+)-(\d+)$/.exec(step.id) ?? [];
  const ended = await findCallResult(sql, run.id, { step: Number(number), position: Number(position) });
  return {
    ...step,
    ...(shown && { arguments: shown }),
    ...(ended?.result != null && { result: ended.result, is_error: ended.isError ?? false }),
    ...confirmation,
  };
}

async function modelDetail(
  { database: { sql }, agents, models, templates }: RunsContext,
  caller: Caller,
  run: Run,
  { id }: TraceStep,
): Promise<Pick<StepDetail, "message" | "messages" | "omitted_messages">> {
  const all = await listSteps(sql, run.id);
  const step = all.find((one) => one.predictionId === id);
  const seesAll = seesAgent(run, caller);
  // A call that failed in between: steps that were stored later were not known to it.
  const before = step ? all.filter(({ n }) => n < step.n) : all.filter((one) => one.predictionId < id);
  const calls = seesAll ? await listCalls(sql, run.id) : [];
  const shown = await listShownArguments(sql, run.id);
  const answered = step && { message: await answerOf(run, step, all) };
  if (!seesAll) return { ...answered };
  const revision = await agents.getRevision(run.agentId, run.revisionId);
  if (!revision) return { ...answered };
  const { shown: input } = run.door === null ? { shown: run.input } : imagesApart(run.input);
  const { snapshot } = revision;
  const notes = (await findNotes(sql, run.id)) ?? undefined;
  const goal = goalWithNotes(templates.render(snapshot.goal, run.input), notes);
  const model = await modelOf({ models }, run.ownerId, snapshot);
  const earlier = await readEarlierTurns(sql, run, snapshot, windowOf(model));
  const sent = sentMessages({ run, earlier, snapshot, goal, input, step, before, calls, shown });
  return { ...answered, ...boundedMessages(sent) };

  async function answerOf(of: Run, stored: Step & { predictionId: string }, steps: readonly Step[]) {
    const last = steps.findLast(({ kind }) => kind !== "summary");
    const hasCalls = stored.message.toolCalls.length > 0;
    const isShown = isTextShown(of, { kind: stored.kind, hasCalls }, { isLast: last?.n === stored.n, reader: caller });
    const reasoning = await findReasoning(sql, stored.predictionId);
    return shownMessage(of.id, stored, { isShown, reasoning, shown });
  }
}
