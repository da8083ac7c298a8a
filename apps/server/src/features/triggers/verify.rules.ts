import { createHmac, timingSafeEqual } from "node:crypto";
import type { StoredVerification } from "./trigger.ts";

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Signed {
  headers: Headers;
  /** The body as it was sent. */
  bytes: Uint8Array;
  now: Date;
}

/** A signature is older or newer than this only if it is replayed, or if a clock is wrong. */
const toleranceSeconds = 300;
/** More signatures in a header would cost time. */
const mostSignatures = 20;

/** Why the delivery is not from the sender that has the secret; undefined if it is. */
export function whyUnverified(verification: StoredVerification, secret: string, signed: Signed): string | undefined {
  switch (verification.type) {
    case "standard_webhooks":
      return ofStandardWebhooks(secret, signed);
    case "github":
      return ofHeader({ header: "x-hub-signature-256", prefix: "sha256=" }, secret, signed);
    case "stripe":
      return ofStripe(secret, signed);
    case "hmac":
      return ofHeader(verification, secret, signed);
  }
}

export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === "string" ? value : value?.join(", ");
}

const wrong = "The signature does not match the body and the secret";

/** https://github.com/standard-webhooks/standard-webhooks */
function ofStandardWebhooks(secret: string, { headers, bytes, now }: Signed): string | undefined {
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const given = headerOf(headers, "webhook-signature");
  if (id === undefined || timestamp === undefined || given === undefined)
    return "The headers webhook-id, webhook-timestamp and webhook-signature are required";
  const untimely = whyUntimely(timestamp, now);
  if (untimely !== undefined) return untimely;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(bytes).digest();
  const signatures = given.split(" ").flatMap((one) => (one.startsWith("v1,") ? one.slice(3) : []));
  return isAmong(expected, signatures, "base64") ? undefined : wrong;
}

/** https://docs.stripe.com/webhooks#verify-manually */
function ofStripe(secret: string, { headers, bytes, now }: Signed): string | undefined {
  const given = headerOf(headers, "stripe-signature");
  if (given === undefined) return "The header Stripe-Signature is required";
  const parts = given.split(",").map((part) => part.trim().split("=", 2));
  const valuesOf = (name: string) => parts.flatMap(([key, value = ""]) => (key === name ? value : []));
  const [timestamp = ""] = valuesOf("t");
  const untimely = whyUntimely(timestamp, now);
  if (untimely !== undefined) return untimely;
  const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(bytes).digest();
  return isAmong(expected, valuesOf("v1"), "hex") ? undefined : wrong;
}

interface HeaderForm {
  header: string;
  prefix?: string | undefined;
  algorithm?: "sha256" | "sha1" | "sha512";
  encoding?: "hex" | "base64";
}

function ofHeader(
  { header, prefix = "", algorithm = "sha256", encoding = "hex" }: HeaderForm,
  secret: string,
  { headers, bytes }: Signed,
): string | undefined {
  const given = headerOf(headers, header)?.trim();
  if (given === undefined) return `The header ${header} is required`;
  if (!given.startsWith(prefix)) return `The header ${header} must begin with ${prefix}`;
  const expected = createHmac(algorithm, secret).update(bytes).digest();
  return isAmong(expected, [given.slice(prefix.length)], encoding) ? undefined : wrong;
}

function whyUntimely(timestamp: string, now: Date): string | undefined {
  if (!/^\d{1,12}$/.test(timestamp)) return "The signature has no valid timestamp";
  const age = now.getTime() / 1000 - Number(timestamp);
  if (Math.abs(age) <= toleranceSeconds) return undefined;
  return `The timestamp of the signature is more than ${toleranceSeconds / 60} minutes from now`;
}

function isAmong(expected: Buffer, given: readonly string[], encoding: "hex" | "base64"): boolean {
  let isFound = false;
  for (const one of given.slice(0, mostSignatures)) {
    const bytes = Buffer.from(one, encoding);
    if (bytes.length === expected.length && timingSafeEqual(bytes, expected)) isFound = true;
  }
  return isFound;
}
