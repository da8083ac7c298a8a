import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Workflow } from "@gantry/wire";
import type { ModelCall, ModelDriver, ModelResult } from "../driver.ts";
import { RunClock } from "../media/run-clock.ts";
import { type HistoryEntry, lostPrompt, readEntry } from "./history-entry.ts";
import { ignoredOutputs, refusedPrompt } from "./node-errors.ts";
import { missesOutput, outputOf } from "./outputs.ts";
import { type ComfyBackend, promptOf } from "./prompt.ts";
import { historyOf, placeIn, queueOf, submitPrompt } from "./server.ts";
import { withdrawPrompt } from "./withdraw.ts";

const firstWaitMs = 100;
const longestWaitMs = 1000;
/** The queue is large and only needed to notice a lost prompt and the end of the wait. */
const queueEveryMs = 2000;
/** ComfyUI ignores it, but no longer takes the node for unchanged. */
const changeMark = "gantry_run";

/**
 * A workflow on a ComfyUI server. Its websocket cannot pass the guarded way out, so the history is polled.
 *
 *   upload ──► submit ──► waiting ──► running ──► history: outputs, or the failure
 *                 └── abort or failure: withdrawn from the queue, or interrupted
 */
export function createComfyui(backend: ComfyBackend): ModelDriver {
  return {
    async run(call) {
      const clock = new RunClock();
      const run: Run = { call, clock, isWaiting: false, withdraw: undefined };
      try {
        call.signal.throwIfAborted();
        return await runWorkflow(backend, run);
      } catch (error) {
        run.withdraw?.();
        if (!call.signal.aborted) throw error;
        if (run.isWaiting) clock.wait();
        throw clock.interrupted(error, call.signal.reason);
      }
    },
  };
}

interface Run {
  readonly call: ModelCall;
  readonly clock: RunClock;
  /** Until the server is seen running the prompt. */
  isWaiting: boolean;
  /** Set while the server may have the prompt in its queue. */
  withdraw: (() => void) | undefined;
}

async function runWorkflow(backend: ComfyBackend, run: Run): Promise<ModelResult> {
  const { call, clock } = run;
  const prompt = await promptOf(backend, call);
  let entry = await executed(backend, run, prompt);
  const missing = missesOutput(backend, entry.outputs);
  if (missing.some((node) => entry.cachedNodes.has(node))) {
    // Some servers list no output of a node that had nothing to do. Only these nodes run again.
    entry = await executed(backend, run, marked(prompt, missing));
  }
  const output = await outputOf(backend, call, entry.outputs);
  return { output, waitedMs: clock.waitedMs(entry.runSeconds) };
}

function marked(prompt: Workflow, nodes: readonly string[]): Workflow {
  const changed = { ...prompt };
  for (const id of nodes) {
    const node = prompt[id];
    if (node) changed[id] = { ...node, inputs: { ...node.inputs, [changeMark]: randomUUID() } };
  }
  return changed;
}

async function executed(backend: ComfyBackend, run: Run, prompt: Workflow): Promise<HistoryEntry> {
  const { call, clock } = run;
  const { signal } = call;
  const ownId = randomUUID();
  let id: string | undefined;
  const submitting = { mayBeQueued: false };
  run.withdraw = () => void (submitting.mayBeQueued && withdrawPrompt(backend, { ownId, id }));
  const explain = (status: number, body: string) => refusedPrompt(backend, status, body);
  const submission = await submitPrompt(backend, ownId, prompt, submitting, {
    signal,
    explain,
    onBegun: call.onBegun,
  });
  ({ id } = submission);
  // Also if the prompt was found in the queue after a lost answer.
  call.onBegun?.();
  clock.begin();
  run.isWaiting = true;
  const refusal = ignoredOutputs(backend, submission.answer);
  if (refusal) throw refusal;
  const entry = readEntry(await ended(backend, run, id), backend);
  run.withdraw = undefined;
  if (entry.failure) throw entry.failure;
  return entry;
}

async function ended(backend: ComfyBackend, run: Run, id: string): Promise<Record<string, unknown>> {
  const { signal } = run.call;
  let lookAgainAt = 0;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 1.3, longestWaitMs)) {
    const entry = await historyOf(backend, id, signal);
    if (entry) return entry;
    if (performance.now() >= lookAgainAt) {
      const place = placeIn(await queueOf(backend, signal), id);
      if (place === "absent") {
        // It may have ended between the two requests.
        const late = await historyOf(backend, id, signal);
        if (late) return late;
        run.withdraw = undefined;
        throw lostPrompt();
      }
      run.isWaiting = place === "waiting";
      // The run begins after this moment, so a reported run time can be checked against it.
      if (run.isWaiting) run.clock.begin();
      lookAgainAt = performance.now() + queueEveryMs;
    }
    await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
