import { setTimeout as sleep } from "node:timers/promises";
import { type Fault, fault } from "../../../kernel/errors.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import type { NetResponse } from "../../net/net.ts";
import type { ModelCall } from "../driver.ts";
import type { MediaBackend } from "../media/call.ts";
import type { RunClock } from "../media/run-clock.ts";
import { joinUrl, requestJson, UpstreamFailure, withRetries } from "../upstream.ts";

const firstWaitMs = 100;
const longestWaitMs = 2000;
/** Statuses that leave open whether the container is busy, starting or broken. */
const unclear = new Set([404, 409, 500, 503]);
const starting = new Set(["STARTING", "UNKNOWN", "BUSY"]);

/**
 * Repeats the request until the container takes it. 409 means that all slots are taken, or that setup has not finished;
 * newer servers answer 503 during setup. The time limit of the prediction bounds the wait.
 */
export function beginRun(
  backend: MediaBackend,
  { signal }: Pick<ModelCall, "signal">,
  clock: RunClock,
  attempt: () => Promise<NetResponse>,
): Promise<NetResponse> {
  return withRetries({ signal, mask: backend.mask, isMediaRun: true, tries: backend.tries }, async () => {
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 1.5, longestWaitMs)) {
      clock.begin();
      try {
        return await attempt();
      } catch (error) {
        signal.throwIfAborted();
        clock.wait();
        const failure = error instanceof UpstreamFailure && unclear.has(error.status) ? error : undefined;
        if (!failure) throw error;
        const health = await healthOf(backend, signal);
        const isWaiting = failure.status === 409 || (failure.status === 503 && starting.has(health));
        const stopped = stoppedContainer(health, failure);
        // If another backend may have a free slot, it is asked first.
        if (stopped || !isWaiting || backend.tries === 1) throw stopped ?? error;
        const spread = waitMs * (0.75 + Math.random() / 2);
        await sleep(spread, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    }
  });
}

/** A container in one of these states does not recover without a restart. */
function stoppedContainer(health: string, cause: UpstreamFailure): Fault | undefined {
  const options = { cause, ctx: { upstream_status: cause.status } };
  if (health === "SETUP_FAILED") {
    const sentence = "The setup of the model's container failed. Read its log, then restart the container.";
    return fault("downstream_service_error", sentence, options);
  }
  if (health === "DEFUNCT") {
    const sentence = "The model's container no longer accepts predictions. Restart the container.";
    return fault("downstream_service_unavailable", sentence, options);
  }
  return undefined;
}

/** Empty if the container does not tell. */
async function healthOf(backend: MediaBackend, signal: AbortSignal): Promise<string> {
  const bounds = { totalMs: 2000, headersMs: 2000, idleMs: 2000, maxBytes: 1024 * 1024 };
  const url = joinUrl(backend.url, "health-check");
  const headers = { accept: "application/json", ...authorization(backend) };
  try {
    // A server that failed may close the connection of the request before.
    const { json } = await requestJson(backend.net, { url, method: "GET", headers, signal, bounds, tries: 2 });
    return isRecord(json) && typeof json.status === "string" ? json.status : "";
  } catch {
    return "";
  }
}

export function authorization(backend: MediaBackend): Record<string, string> {
  return backend.key ? { authorization: `Bearer ${backend.key}` } : {};
}
