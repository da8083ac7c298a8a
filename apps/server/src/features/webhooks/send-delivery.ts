import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { longestAddress, type Net, NetError, type NetResponse } from "../../engines/net/net.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { Clock } from "../../kernel/clock.ts";
import { fault } from "../../kernel/errors.ts";
import { type AttemptEnd, readRetryAfter } from "./attempt.rules.ts";
import type { ClaimedRow } from "./claim-store.ts";
import { openTarget, type Webhook } from "./webhook.ts";

const maxAnswerBytes = 16 * 1024;
/** Of an answer, shown to the owner of the delivery. */
const keptAnswerBytes = 4 * 1024;
/** The status is known by then: a slow body must not delay its storage. */
const answerWaitMs = 1_000;

export interface SendDeps {
  net: Net;
  vault: Vault;
  clock: Clock;
  timeoutMs: number;
  renewPayload(payload: string, ageMs: number): Promise<string>;
}

export interface Attempt {
  end: AttemptEnd;
  /** The beginning of the answer. */
  answer?: string;
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
    const end = { kind: "answered", status, latencyMs: latencyMs(), retryAfterMs } as const;
    return { end, ...(await readAnswer(body)) };
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
async function readAnswer(body: NetResponse["body"]): Promise<Pick<Attempt, "answer" | "drained">> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const drained = new Promise<void>((resolve) => {
    body.once("close", resolve).once("error", () => resolve());
  });
  const hasEnough = new Promise<void>((resolve) => {
    body.on("data", (chunk: Buffer) => {
      if (bytes < keptAnswerBytes) chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= keptAnswerBytes) resolve();
    });
  });
  const patience = new AbortController();
  const pause = sleep(answerWaitMs, undefined, { signal: patience.signal }).catch(() => undefined);
  await Promise.race([drained, hasEnough, pause]);
  patience.abort();
  const answer = Buffer.concat(chunks).subarray(0, keptAnswerBytes).toString("utf8").replaceAll("\0", "\ufffd");
  return { answer, drained };
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

/** A webhook of a request's field `webhook`, with what was left out. */
export function readWebhook({
  url,
  headers = {},
  query_params = {},
}: Pick<Webhook, "url"> & Partial<Webhook>): Webhook {
  const webhook = { url, headers, query_params };
  if (addressOf(webhook).href.length > longestAddress) {
    const msg = `The encoded address with its parameters must have at most ${longestAddress} characters`;
    throw fault("string_too_long", msg, { loc: ["body", "webhook", "url"], ctx: { max_length: longestAddress } });
  }
  return webhook;
}

/** Headers of one attempt, as specified by Standard Webhooks. The user's headers keep their order and spelling. */
export function headersOf(
  webhook: Webhook,
  { id, body, at, secrets }: { id: string; body: string; at: Date; secrets: readonly string[] },
): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000);
  return {
    ...constantHeaders(webhook, id),
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets.map((secret) => signatureOf(secret, `${id}.${timestamp}.${body}`)).join(" "),
  };
}

/** The headers that all attempts of a delivery share. */
function constantHeaders(webhook: Webhook, id: string): Record<string, string> {
  const given = Object.entries(webhook.headers).filter(([name]) => !reserved.test(name) && !hopByHop.test(name));
  const hasAgent = given.some(([name]) => name.toLowerCase() === "user-agent");
  return Object.fromEntries([
    ...given,
    ...(hasAgent ? [] : [["user-agent", "Gantry-Webhooks/1"]]),
    ["content-type", "application/json"],
    ["webhook-id", id],
  ]);
}

/** The user's values may be credentials. */
export function shownHeaders(webhook: Webhook, id: string): Record<string, string> {
  const hidden = Object.keys(webhook.headers).map((name) => [name, "••••••"]);
  return constantHeaders({ ...webhook, headers: Object.fromEntries(hidden) }, id);
}

function signatureOf(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
}
