import type { RunHistory } from "../run.ts";
import type { RunChange } from "../run-writer.ts";
import { RunFailed } from "./stopped.ts";

/**
 * A node keeps the history of each run that it works on in memory. The limit admits one result of full length in each of
 * 1,000 steps.
 */
const maxHistoryMb = 64;

/** Fails the run if it may not take another step. */
export function checkLimits({ run, steps }: Pick<RunHistory, "run" | "steps">, historyBytes: number): void {
  if (steps.length >= run.maxSteps) {
    throw new RunFailed("limit_exceeded", `The run did not reach the goal within ${run.maxSteps} steps`);
  }
  checkHistory(historyBytes);
}

export function checkHistory(bytes: number): void {
  if (bytes <= maxHistoryMb * 1024 * 1024) return;
  throw new RunFailed(
    "limit_exceeded",
    `The steps, tool arguments and tool results of the run exceed ${maxHistoryMb} MB. Divide the task into several runs, or let its tools return less.`,
  );
}

/** Bytes that a change adds to the history of its run, as `historyBytes` of store.ts counts them. */
export function addedBytes({ step, calls = [], ends = [] }: Pick<RunChange, "step" | "calls" | "ends">): number {
  let bytes = step ? bytesOf(JSON.stringify(step.message)) + bytesOf(step.prompt) : 0;
  for (const call of calls) bytes += bytesOf(JSON.stringify(call.arguments)) + bytesOf(call.result);
  for (const { result } of ends) bytes += bytesOf(result);
  return bytes;
}

function bytesOf(text = ""): number {
  return Buffer.byteLength(text);
}
