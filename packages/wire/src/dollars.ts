import { z } from "zod";

/** An amount in dollars with six decimals at most: a millionth of a dollar is the unit of the books. */
export const dollars = z
  .number()
  .min(0)
  .max(1_000_000)
  .refine((amount) => Math.round(amount * 1e6) / 1e6 === amount, "At most six decimals");
