import type { GantryClient, RunRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes, Failure, isGantryError } from "../frame/failure.ts";
import { elapsed } from "../frame/format.rules.ts";
import { createApprovals } from "./approvals.ts";
import { createChildren } from "./follow-children.ts";
import { pendingOf, printPending } from "./pending.ts";
import { resultText, runFacts } from "./run-text.rules.ts";
import { createRunView, type RunView } from "./run-view.ts";

export interface FollowOptions {
  /** Show steps and text as they come; otherwise only questions and the result. */
  showsSteps: boolean;
  /** Events as JSON lines with `showsSteps`, otherwise the run as one document. */
  json: boolean;
  approvesAll: boolean;
  /** Whether Ctrl+C cancels the run, or only leaves it. */
  cancels: boolean;
}

/** Follows a run to its end, answers its confirmations, and prints the result. Returns the exit code. */
export async function followRun(
  context: Context,
  client: GantryClient,
  { id, created_at }: Pick<RunRecord, "id" | "created_at">,
  options: FollowOptions,
): Promise<number> {
  const { out } = context;
  const view = createRunView(out);
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const begin = Date.parse(created_at);
  const ticking = setInterval(() => {
    // A question keeps its line.
    if (!options.showsSteps && !view.isHeld) out.progress(`Running for ${elapsed((Date.now() - begin) / 1000)}`);
  }, 1000);
  try {
    await readEvents(client, id, { signal, stop, view, context, options });
  } catch (error) {
    if (context.signal.aborted) return await interrupted(context, client, id, options.cancels);
    if (!stop.signal.aborted) throw lost(error, id);
    if (stop.signal.reason !== waits) throw stop.signal.reason;
    return await reportWaiting(context, client, id, options);
  } finally {
    clearInterval(ticking);
    out.progress(undefined);
    stop.abort();
  }
  return report(context, await client.runs.get(id), view, options);
}

/** The reason of stopping when the run waits for an answer. */
const waits = Symbol("waits for an answer");

interface Reading {
  signal: AbortSignal;
  stop: AbortController;
  view: RunView;
  context: Context;
  options: FollowOptions;
}

async function readEvents(client: GantryClient, id: string, reading: Reading): Promise<void> {
  const { signal, stop, view, context, options } = reading;
  const { showsSteps, json, approvesAll } = options;
  const showsLines = showsSteps && !json;
  const onFailure = (error: unknown) => stop.abort(error);
  const approvals = createApprovals(client, { runId: id, view, approvesAll, signal, onFailure });
  void approvals.stuck.then(() => stop.abort(waits));
  const children = createChildren(client, signal, view.show);
  for await (const event of client.runs.events(id, { text: true, signal })) {
    if (showsSteps && json) context.out.jsonLine(event);
    if (showsLines) view.show(event, undefined, 0);
    if (event.type === "text") continue;
    approvals.see(event);
    if (showsLines) children.see(id, 0, event);
  }
  await children.settled();
}

async function interrupted(context: Context, client: GantryClient, id: string, cancels: boolean): Promise<number> {
  const { out } = context;
  if (!cancels) {
    out.note(`\nThe run continues. Follow it with: gantry runs follow ${id}`);
    return exitCodes.interrupted;
  }
  out.note(`\nCancelling ${id}. Press Ctrl+C again to leave at once.`);
  const { status } = await client.runs.cancel(id);
  out.note(status === "done" ? "The run was already done." : "The run was cancelled.");
  return exitCodes.interrupted;
}

/** The run does not depend on the connection. */
function lost(error: unknown, id: string): unknown {
  if (!isGantryError(error) || error.status !== 0) return error;
  return new Failure(`${error.message}. The run may continue: gantry runs follow ${id}`);
}

async function reportWaiting(
  context: Context,
  client: GantryClient,
  id: string,
  { json, showsSteps }: FollowOptions,
): Promise<number> {
  if (json && !showsSteps) context.out.json(await client.runs.get(id));
  context.out.note(`The run ${id} waits for an approval.`);
  printPending(context.out.note, id, await pendingOf(client, id));
  return exitCodes.needsApproval;
}

function report({ out }: Context, run: RunRecord, view: RunView, { json, showsSteps }: FollowOptions): number {
  if (json && !showsSteps) out.json(run);
  if (!json && run.output) {
    const text = resultText(run.output);
    // In a terminal the text has just been shown as it came.
    const isShown = showsSteps && out.isTerminal && process.stderr.isTTY && view.lastText().trim() === text.trim();
    if (!isShown) out.line(text);
  }
  if (run.error) out.note(`The run failed: ${run.error.message} (${run.error.type})`);
  out.note(`${run.id}: ${runFacts(run)}`);
  return run.status === "done" ? exitCodes.done : exitCodes.failed;
}
