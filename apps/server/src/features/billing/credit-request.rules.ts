import { createHash } from "node:crypto";
import { creditBody } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import { type Micros, microsOfDollars } from "../../kernel/money.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";

export interface CreditRequest {
  /** Negative takes money away. Never zero. */
  amount: Micros;
  reason: string;
}

/** Far above all use, and far below where a number stops being exact. */
export const mostInWallet: Micros = microsOfDollars(1_000_000_000);

/** Reads `{amount, reason}`; everything that is wrong with it comes in one fault. */
export function readCreditRequest(body: unknown): CreditRequest {
  const { amount, reason } = parseOrThrow(creditBody, body, ["body"]);
  return { amount: microsOfDollars(amount), reason };
}

/**
 * The ledger's reference of a credit that was sent with an `Idempotency-Key`: the same for the same admin, user and key.
 * Undefined without a key.
 */
export function creditReference(
  key: string | string[] | undefined,
  { adminId, userId }: { adminId: string; userId: string },
): string | undefined {
  if (key === undefined) return undefined;
  if (typeof key !== "string" || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw fault("value_error", "The Idempotency-Key must have 1 to 255 visible characters without spaces", {
      loc: ["header", "idempotency-key"],
    });
  }
  return `credit:${adminId}:${userId}:${createHash("sha256").update(key).digest("hex")}`;
}
