import { setTimeout as sleep } from "node:timers/promises";
import { isJsonObject } from "../media/output-fields.ts";
import { type ComfyConnection, getJson, ownIn, postJson, queueOf } from "./server.ts";

/** Older servers ignore the id and interrupt whatever runs. */
const firstWithTargetedInterrupt = [0, 3, 57];
/** A prompt whose submission was interrupted may reach the queue a little later. */
const looksAfterMs = [0, 500, 2000];
const longestMs = 15_000;

/**
 * Removes a prompt from the server's queue, or stops its run. Prompts of other clients are left alone. Failures are
 * ignored: the caller's run has ended already.
 */
export async function withdrawPrompt(
  connection: ComfyConnection,
  prompt: { ownId: string; id: string | undefined },
): Promise<void> {
  const signal = AbortSignal.timeout(longestMs);
  try {
    const id = prompt.id ?? (await lateId(connection, prompt.ownId, signal));
    if (id === undefined) return;
    await postJson(connection, "queue", { delete: [id] }, { signal });
    if (!(await isInterruptSafe(connection, id, signal))) return;
    await postJson(connection, "interrupt", { prompt_id: id }, { signal });
  } catch {
    // The server is gone, and the prompt with it.
  }
}

async function lateId(connection: ComfyConnection, ownId: string, signal: AbortSignal): Promise<string | undefined> {
  for (const afterMs of looksAfterMs) {
    await sleep(afterMs, undefined, { signal, ref: false });
    const id = ownIn(await queueOf(connection, signal), ownId);
    if (id !== undefined) return id;
  }
  return undefined;
}

/** On an old server our prompt must be the only one, so that no other one can start before the interrupt arrives. */
async function isInterruptSafe(connection: ComfyConnection, id: string, signal: AbortSignal): Promise<boolean> {
  if (await hasTargetedInterrupt(connection, signal)) return true;
  const queue = await queueOf(connection, signal);
  return queue?.running.length === 1 && queue.running[0]?.id === id && queue.waiting.length === 0;
}

async function hasTargetedInterrupt(connection: ComfyConnection, signal: AbortSignal): Promise<boolean> {
  const stats = await getJson(connection, "system_stats", signal, 1024 * 1024).catch(() => undefined);
  const system = isJsonObject(stats) && isJsonObject(stats.system) ? stats.system : {};
  const parts = /^v?(\d+)\.(\d+)\.(\d+)/
    .exec(String(system.comfyui_version ?? ""))
    ?.slice(1)
    .map(Number);
  if (!parts) return false;
  for (const [index, least] of firstWithTargetedInterrupt.entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}
