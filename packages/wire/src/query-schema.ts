import { z } from "zod";

/**
 * Query parameters arrive as text, or as a list if given twice. The parsed type comes last in a pipe, so that documents
 * describe it instead of the text.
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
      // `z.int` would report a very large number a second time.
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

const maxSearchChars = 200;

export const searchText = z
  .string("Must be a single value")
  .max(maxSearchChars, `At most ${maxSearchChars} characters`)
  .superRefine((text, ctx) => {
    // PostgreSQL cannot store NUL.
    if (text.includes("\0")) {
      ctx.addIssue({ code: "invalid_type", expected: "string", message: "Must not contain NUL characters" });
    }
  });

/** Empty text counts as omitted. */
export const searchTextIfAny = z
  .preprocess((given) => (given === "" ? undefined : given), searchText.optional())
  .optional();

/** The route parses these times itself: they are more precise than a JavaScript date. */
export const moment = z.unknown().optional().meta({ type: "string" });
export const moments = "ISO 8601, such as `2026-01-31T23:59:59`; UTC unless a zone is given.";

/** Keeps offsets within exact integers. */
export const longestList = 1_000_000_000;

export function page(otherwise = 20, most = 100) {
  return {
    limit: wholeNumber(1, most).default(otherwise).describe("Maximum number of entries."),
    offset: wholeNumber(0, longestList).default(0).describe("Number of entries to skip."),
  };
}

/** Refuses unknown parameters and lists the known ones: a misspelt filter would otherwise return everything. */
export function onlyParameters<const Shape extends z.ZodRawShape>(shape: Shape) {
  const names = Object.keys(shape);
  const known = names.join(", ");
  return z.strictObject(shape, {
    error: ({ code }) => (code === "unrecognized_keys" ? `Unknown parameter. Known: ${known}` : undefined),
  });
}
