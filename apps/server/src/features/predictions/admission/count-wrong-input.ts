import { Fault } from "../../../kernel/errors.ts";
import type { Predictions } from "../open-predictions.ts";
import { rateHeaders } from "./admit-predictions.ts";
import type { LookRequest } from "./look-at-limits.ts";

/**
 * Reads input for a prediction. Funds and limits come before the input in the order of refusals, but they are decided at
 * admission, after it: so they are looked at where the input is wrong, and a wrong request counts like a right one.
 */
export async function countWrongInput<T>(
  { look }: Pick<Predictions, "look">,
  asked: Omit<LookRequest, "counts">,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Fault && error.status === 422) {
      Object.assign(error.headers, rateHeaders(await look({ ...asked, counts: true })));
    }
    throw error;
  }
}
