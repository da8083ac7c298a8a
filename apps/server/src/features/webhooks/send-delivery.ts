import { createHmac } from "node:crypto";
import { type Net, NetError, type NetResponse } from "../../engines/net/net.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { Clock } from "../../kernel/clock.ts";
import { type AttemptEnd, readRetryAfter } from "./attempt.rules.ts";
import type { ClaimedRow } from "./claim-store.ts";
import { openTarget, type Webhook } from "./webhook.ts";

/** Only the status of an answer matters. */
const maxAnswerBytes = 16 * 1024;

export interface SendDeps {
  net: Net;
  vault: Vault;
  clock: Clock;
  timeoutMs: number;
  renewPayload(payload: string, ageMs: number): Promise<string>;
}

export interface Attempt {
  end: AttemptEnd;
  /** An error of this server, for the log. */
  cause?: unknown;
  /** Resolves when the body is read or cut off and the connection is free, within the same timeout. */
  drained: Promise<void>;
}

/** Sends at most one POST. Never rejects. */
export async function sendDelivery(deps: SendDeps, row: ClaimedRow, openSecrets: () => string[]): Promise<Attempt> {
  const { net, vault, clock, timeoutMs } = deps;
  const startedAt = performance.now();
  const latencyMs = () => Math.round(performance.now() - startedAt);
  try {
    const secrets = openSecrets();
    if (secrets.length === 0) throw new Error("the user has no signing secret");
    const webhook = openTarget(vault, row, row.target);
    const payload = await deps.renewPayload(row.payload, row.ageMs);
    const { status, headers, body } = await net.request({
      url: addressOf(webhook),
      method: "POST",
      headers: headersOf(webhook, { id: row.id, body: payload, at: clock.now(), secrets }),
      body: payload,
      bounds: { totalMs: timeoutMs, headersMs: timeoutMs, idleMs: timeoutMs, maxBytes: maxAnswerBytes },
    });
    const retryAfterMs = readRetryAfter(headers["retry-after"], clock.now());
    return { end: { kind: "answered", status, latencyMs: latencyMs(), retryAfterMs }, drained: drain(body) };
  } catch (error) {
    const drained = Promise.resolve();
    if (error instanceof NetError) {
      const { reason, message } = error;
      return { end: { kind: "unanswered", reason, message, latencyMs: latencyMs() }, drained };
    }
    const message = "The server failed to prepare the delivery";
    return {
      end: { kind: "unanswered", reason: "not_prepared", message, latencyMs: latencyMs() },
      cause: error,
      drained,
    };
  }
}

/** Errors do not matter: the status has been read. */
async function drain(body: NetResponse["body"]): Promise<void> {
  await body.dump().catch(() => undefined);
}

export const secretPrefix = "whsec_";

/** Set by the server: users must not forge the body's type or the signature. */
const reserved = /^(host|content-.*|webhook-.*)$/i;
/** Headers of the connection would break the request. */
const hopByHop = /^(connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i;

/** Appends the parameters and keeps the original query unchanged. */
export function addressOf({ url, query_params }: Webhook): URL {
  const address = new URL(url);
  const added = new URLSearchParams(Object.entries(query_params)).toString();
  if (added !== "") address.search = address.search === "" ? added : `${address.search}&${added}`;
  return address;
}

/** Headers of one attempt, as specified by Standard Webhooks. The user's headers keep their order and spelling. */
export function headersOf(
  webhook: Webhook,
  { id, body, at, secrets }: { id: string; body: string; at: Date; secrets: readonly string[] },
): Record<string, string> {
  const given = Object.entries(webhook.headers).filter(([name]) => !reserved.test(name) && !hopByHop.test(name));
  const hasAgent = given.some(([name]) => name.toLowerCase() === "user-agent");
  const timestamp = Math.floor(at.getTime() / 1000);
  return Object.fromEntries([
    ...given,
    ...(hasAgent ? [] : [["user-agent", "Gantry-Webhooks/1"]]),
    ["content-type", "application/json"],
    ["webhook-id", id],
    ["webhook-timestamp", String(timestamp)],
    ["webhook-signature", secrets.map((secret) => signatureOf(secret, `${id}.${timestamp}.${body}`)).join(" ")],
  ]);
}

function signatureOf(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
}
