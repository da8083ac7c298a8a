import { fault } from "../../kernel/errors.ts";
import type { Runnable } from "../agents/index.ts";
import type { RunsContext } from "./context.ts";
import { lockFunds, type NewRun, reservePrice } from "./create-store.ts";

const notCovered =
  "The balance, or what the API key may spend in a month, does not cover the price of an agent that the run calls";

type Tx = Parameters<typeof lockFunds>[0];

/**
 * Reserves the price of a run. Whoever starts a run has seen its price, and may go below zero by it once. What a run calls
 * on its own nobody has seen: that must be covered. Answers the month in which a key's limit counts it, where it has one.
 */
export async function reserve({ clock }: Pick<RunsContext, "clock">, tx: Tx, run: NewRun): Promise<string | null> {
  const { userId, keyId, price } = run;
  if (price === 0) return null;
  const month = `${clock.now().toISOString().slice(0, 7)}-01`;
  const { available, keyRoom } = await lockFunds(tx, userId, keyId, month);
  if (run.ancestors.length === 0) {
    if (available < 0 || (keyRoom !== null && keyRoom <= 0)) throw fault("insufficient_funds", "Insufficient funds");
  } else if (available < price || (keyRoom !== null && keyRoom < price)) {
    throw fault("insufficient_funds", notCovered);
  }
  const counted = keyRoom === null ? null : month;
  await reservePrice(tx, { userId, keyId, month: counted, price });
  return counted;
}

/** The name under which usage shows the price of a run. */
export function saleNameOf({ owner, slug }: Runnable["agent"]): string {
  return `agents/${owner}/${slug}`;
}
