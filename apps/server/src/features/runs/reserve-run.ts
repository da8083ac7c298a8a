import { type Fault, fault } from "../../kernel/errors.ts";
import { dollarsOfMicros, type Micros } from "../../kernel/money.ts";
import type { RunsContext } from "./context.ts";
import { type Funds, lockFunds, type NewRun, reservePrice } from "./create-store.ts";

type Tx = Parameters<typeof lockFunds>[0];

/**
 * Reserves the price of a run. The price goes to another user, who can spend it, so wallet and key must cover all of it:
 * a wallet that went below zero here would create money. Returns the month in which the key's limit counts the price,
 * if the key has a limit.
 */
export async function reserve({ clock }: Pick<RunsContext, "clock">, tx: Tx, run: NewRun): Promise<string | null> {
  const { userId, keyId, price } = run;
  if (price === 0) return null;
  const month = `${clock.now().toISOString().slice(0, 7)}-01`;
  const funds = await lockFunds(tx, userId, keyId, month);
  if (funds.balance - funds.reserved < price || (funds.keyBudget !== null && funds.keyBudget < price)) {
    throw notCovered(run, funds);
  }
  const counted = funds.keyBudget === null ? null : month;
  await reservePrice(tx, { userId, keyId, month: counted, price });
  return counted;
}

/** A sub-agent's failure is shown to the agent that called it, which must not learn its caller's balance. */
function notCovered({ ancestors, price }: NewRun, { balance, reserved, keyBudget }: Funds): Fault {
  if (ancestors.length > 0) {
    return fault(
      "insufficient_funds",
      "The balance or the monthly limit of the API key does not cover the price of an agent that the run calls",
    );
  }
  const costs = `this run costs ${inDollars(price)}`;
  if (balance - reserved >= price && keyBudget !== null) {
    const left = inDollars(Math.max(0, keyBudget));
    return fault(
      "insufficient_funds",
      `The API key may still spend ${left} this month; ${costs}. Use another key or choose a cheaper agent.`,
    );
  }
  const held = reserved > 0 ? `, of which ${inDollars(reserved)} is reserved` : "";
  return fault(
    "insufficient_funds",
    `Balance is ${inDollars(balance)}${held}; ${costs}. Add credit or choose a cheaper agent.`,
  );
}

/** `expected` is the price that the caller was shown, in dollars. */
export function requirePrice({ price, userId, ownerId }: NewRun, expected: number | undefined): void {
  const now = dollarsOfMicros(price);
  // Your own agent costs you no price, whatever others pay.
  if (expected === undefined || expected === now || userId === ownerId) return;
  throw fault(
    "conflict",
    `The price of this agent is now $${now}, not $${expected}. Confirm the new price and run the agent again.`,
    { loc: ["body", "expected_price"], ctx: { per_run: now, expected_price: expected } },
  );
}

function inDollars(amount: Micros): string {
  return `${amount < 0 ? "-" : ""}$${dollarsOfMicros(Math.abs(amount))}`;
}
