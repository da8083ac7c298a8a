import { z } from "zod";

/**
 * Parameters of a query. They arrive as texts, and as lists where one is given twice; what they are read as stands behind
 * the reading, so that a document tells that and not the text.
 */

function unread(ctx: z.core.ParsePayload, expected: "int" | "number", message: string): never {
  ctx.issues.push({ code: "invalid_type", expected, input: ctx.value, message });
  return z.NEVER;
}

export function wholeNumber(least: number, most: number) {
  const bounded = z.number().min(least, `Must be at least ${least}`).max(most, `Must be at most ${most}`);
  return (
    z
      .transform((given: unknown, ctx): number => {
        if (typeof given === "string" && /^[+-]?\d+$/.test(given)) return Number(given);
        return unread(ctx, "int", "Must be a whole number");
      })
      // That it is whole is checked already; `z.int` would complain of a very large one a second time.
      .pipe(bounded.meta({ type: "integer" }))
  );
}

export function numberUpTo(most: number) {
  const message = `Must be a number from 0 to ${most}`;
  return z
    .transform((given: unknown, ctx): number => {
      const value = typeof given === "string" && given.trim() !== "" ? Number(given) : Number.NaN;
      return Number.isNaN(value) ? unread(ctx, "number", message) : value;
    })
    .pipe(z.number(message).min(0, message).max(most, message));
}

export function choice<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, `Must be one of ${values.join(", ")}`);
}

const mostSearchedChars = 200;

/** A text that is searched for, or an id. */
export const searchText = z
  .string("Must be one text")
  .max(mostSearchedChars, `At most ${mostSearchedChars} characters`)
  .superRefine((text, ctx) => {
    // Which is no text to PostgreSQL.
    if (text.includes("\0")) {
      ctx.addIssue({ code: "invalid_type", expected: "string", message: "Must be a text without NUL characters" });
    }
  });

/** The empty text is none. */
export const searchTextIfAny = z
  .preprocess((given) => (given === "" ? undefined : given), searchText.optional())
  .optional();

/** No list is that long; it keeps the offset within what every number on the way can hold. */
export const longestList = 1_000_000_000;

/** Which part of a list: `limit` from 1 and `offset` from 0. */
export function page(otherwise = 20, most = 100) {
  return {
    limit: wholeNumber(1, most).default(otherwise).describe("How many entries at most."),
    offset: wholeNumber(0, longestList).default(0).describe("How many entries to leave out before the first."),
  };
}

/**
 * A query with the only parameters that it has: a misspelt one is told with those, because without it a list would look as
 * if it had been narrowed and held all that there is, and an answer as if it had been waited for.
 */
export function onlyParameters<const Shape extends z.ZodRawShape>(shape: Shape) {
  const names = Object.keys(shape);
  const known = `${names.length === 1 ? "there is only" : "there are"} ${names.join(", ")}`;
  return z.strictObject(shape, {
    error: ({ code }) => (code === "unrecognized_keys" ? `Unknown parameter: ${known}` : undefined),
  });
}
