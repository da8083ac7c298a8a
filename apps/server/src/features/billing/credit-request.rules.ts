import { createHash } from "node:crypto";
import { fault, type Issue, type Loc, throwIfAny } from "../../kernel/errors.ts";
import { dollarsOfMicros, type Micros, microsOfDollars } from "../../kernel/money.ts";

export interface CreditRequest {
  /** Negative takes money away. Never zero. */
  amount: Micros;
  reason: string;
}

/** Dollars at once, and in a wallet: far above all use, and far below where a number stops being exact. */
const mostAtOnce = 1_000_000;
export const mostInWallet: Micros = microsOfDollars(1_000_000_000);
const longestReason = 500;
const fields = ["amount", "reason"];

/** Reads `{amount, reason}`; everything that is wrong with it comes in one fault. */
export function readCreditRequest(body: unknown): CreditRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw fault("json_invalid", "The body must be a JSON object with amount and reason");
  }
  const { amount, reason } = body as Record<string, unknown>;
  throwIfAny([
    ...amountIssues(amount),
    ...reasonIssues(reason),
    ...Object.keys(body)
      .filter((name) => !fields.includes(name))
      .map((name): Issue => ({ type: "extra_forbidden", loc: ["body", name], msg: "Unknown field" })),
  ]);
  return { amount: microsOfDollars(amount as number), reason: (reason as string).trim() };
}

function amountIssues(amount: unknown): Issue[] {
  const loc = ["body", "amount"];
  if (amount === undefined) return [{ type: "missing", loc, msg: "Field required" }];
  if (typeof amount !== "number") return [{ type: "float_parsing", loc, msg: "Must be a number of dollars" }];
  if (amount > mostAtOnce) return [atBound("less_than_equal", loc, "most", { le: mostAtOnce })];
  if (amount < -mostAtOnce) return [atBound("greater_than_equal", loc, "least", { ge: -mostAtOnce })];
  if (amount === 0) return [{ type: "value_error", loc, msg: "Must not be zero" }];
  if (dollarsOfMicros(microsOfDollars(amount)) !== amount) {
    return [{ type: "value_error", loc, msg: "At most six decimals: the smallest amount is a millionth of a dollar" }];
  }
  return [];
}

function atBound(type: Issue["type"], loc: Loc, side: string, ctx: Record<string, number>): Issue {
  return { type, loc, msg: `Must be at ${side} ${Object.values(ctx)[0]}`, ctx };
}

function reasonIssues(reason: unknown): Issue[] {
  const loc = ["body", "reason"];
  if (reason === undefined) return [{ type: "missing", loc, msg: "Field required" }];
  if (typeof reason !== "string") return [{ type: "string_type", loc, msg: "Must be text" }];
  const length = [...reason.trim()].length;
  if (length === 0) {
    return [{ type: "sequence_too_short", loc, msg: "Must not be empty", ctx: { min_length: 1 } }];
  }
  if (length > longestReason) {
    const msg = `At most ${longestReason} characters`;
    return [{ type: "string_too_long", loc, msg, ctx: { max_length: longestReason } }];
  }
  if (/\p{Cc}/u.test(reason.trim())) return [{ type: "value_error", loc, msg: "Must have no control characters" }];
  return [];
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
