import { z } from "zod";

/** At most six decimals: the ledger counts millionths of a dollar. */
export const dollars = z
  .number()
  .min(0)
  .max(1_000_000)
  .refine((amount) => Math.round(amount * 1e6) / 1e6 === amount, "At most six decimals");
