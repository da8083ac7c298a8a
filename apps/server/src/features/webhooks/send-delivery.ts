import { type Net, NetError, type NetResponse } from "../../engines/net/net.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { Clock } from "../../kernel/clock.ts";
import { type AttemptEnd, readRetryAfter } from "./attempt.rules.ts";
import type { ClaimedRow } from "./claim-store.ts";
import { addressOf, headersOf } from "./request.rules.ts";
import { openTarget } from "./seal-webhook.ts";

/** A receiver has nothing to tell us but a status. */
const mostAnswerBytes = 16 * 1024;

export interface SendDeps {
  net: Net;
  vault: Vault;
  clock: Clock;
  timeoutMs: number;
  renewPayload(payload: string, ageMs: number): Promise<string>;
}

export interface Attempt {
  end: AttemptEnd;
  /** What went wrong on our side, for the log. */
  cause?: unknown;
  /** Resolves when the rest of the answer is read or cut and the connection is free; within the same time limit. */
  drained: Promise<void>;
}

/** One attempt: exactly one POST, or none where it cannot be prepared. Never rejects. */
export async function sendDelivery(deps: SendDeps, row: ClaimedRow, openSecrets: () => string[]): Promise<Attempt> {
  const { net, vault, clock, timeoutMs } = deps;
  const startedAt = performance.now();
  const latencyMs = () => Math.round(performance.now() - startedAt);
  try {
    const secrets = openSecrets();
    if (secrets.length === 0) throw new Error("there is no secret to sign with");
    const webhook = openTarget(vault, row, row.target);
    const payload = await deps.renewPayload(row.payload, row.ageMs);
    const { status, headers, body } = await net.request({
      url: addressOf(webhook),
      method: "POST",
      headers: headersOf(webhook, { id: row.id, body: payload, at: clock.now(), secrets }),
      body: payload,
      bounds: { totalMs: timeoutMs, headersMs: timeoutMs, idleMs: timeoutMs, maxBytes: mostAnswerBytes },
    });
    const retryAfterMs = readRetryAfter(headers["retry-after"], clock.now());
    return { end: { kind: "answered", status, latencyMs: latencyMs(), retryAfterMs }, drained: drain(body) };
  } catch (error) {
    const drained = Promise.resolve();
    if (error instanceof NetError) {
      const { reason, message } = error;
      return { end: { kind: "unanswered", reason, message, latencyMs: latencyMs() }, drained };
    }
    const message = "The delivery could not be prepared by the server";
    return {
      end: { kind: "unanswered", reason: "not_prepared", message, latencyMs: latencyMs() },
      cause: error,
      drained,
    };
  }
}

/** Whatever becomes of the answer's body, the status has been read. */
async function drain(body: NetResponse["body"]): Promise<void> {
  await body.dump().catch(() => undefined);
}
