import { createHmac } from "node:crypto";
import type { Webhook } from "./webhook.ts";

export const secretPrefix = "whsec_";

/** Ours to set, so that no receiver can be told something false about the body or its sender. */
const reserved = /^(host|content-.*|webhook-.*)$/i;
/** Of the connection, not of the message: they would break the exchange itself. */
const ofTheConnection = /^(connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i;

/** The address with the parameters behind its own, whose bytes stay as they were given. */
export function addressOf({ url, query_params }: Webhook): URL {
  const address = new URL(url);
  const added = new URLSearchParams(Object.entries(query_params)).toString();
  if (added !== "") address.search = address.search === "" ? added : `${address.search}&${added}`;
  return address;
}

/** The headers of one attempt, after Standard Webhooks; the given ones keep their order and spelling. */
export function headersOf(
  webhook: Webhook,
  { id, body, at, secrets }: { id: string; body: string; at: Date; secrets: readonly string[] },
): Record<string, string> {
  const given = Object.entries(webhook.headers).filter(([name]) => !reserved.test(name) && !ofTheConnection.test(name));
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
