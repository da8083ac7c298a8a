import { z } from "zod";

/** Dollars at once: far above all use, and far below where a number stops being exact. */
const mostAtOnce = 1_000_000;
const longestReason = 500;

export const creditBody = z.strictObject({
  amount: z
    .number("Must be a number of dollars")
    .min(-mostAtOnce, `Must be at least ${-mostAtOnce}`)
    .max(mostAtOnce, `Must be at most ${mostAtOnce}`)
    .superRefine((amount, ctx) => {
      if (Math.abs(amount) > mostAtOnce) return;
      if (amount === 0) ctx.addIssue({ code: "custom", message: "Must not be zero" });
      else if (Math.round(amount * 1e6) / 1e6 !== amount) {
        const message = "At most six decimals: the smallest amount is a millionth of a dollar";
        ctx.addIssue({ code: "custom", message });
      }
    })
    .describe("Dollars; a negative amount takes money away. Not 0, six decimals at most."),
  reason: z
    .string("Must be text")
    .trim()
    .superRefine((reason, ctx) => {
      // In characters, as a document counts them, not in their halves.
      const length = [...reason].length;
      if (length === 0) {
        ctx.addIssue({ code: "too_small", origin: "string", minimum: 1, message: "Must not be empty" });
      } else if (length > longestReason) {
        const message = `At most ${longestReason} characters`;
        ctx.addIssue({ code: "too_big", origin: "string", maximum: longestReason, message });
      } else if (/\p{Cc}/u.test(reason)) {
        ctx.addIssue({ code: "custom", message: "Must have no control characters" });
      }
    })
    .meta({ minLength: 1, maxLength: longestReason, description: "Stands in the ledger beside the amount." }),
});

const amount = (of: string) => z.number().describe(`Dollars${of && ` ${of}`}.`);
const tokens = z.int().nullable();

/** The order of these fields is that of the columns of the CSV. */
export const usageRecord = z.object({
  request_id: z.string().describe("The id of the prediction."),
  model_name: z.string().describe("`owner/model`, as it was called then."),
  route: z.enum(["sync", "stream", "async", "agent"]).describe("In which way it was called."),
  status: z.int().describe("That of its answer: 200, or that of its error."),
  created_at: z.iso.datetime(),
  inference_time: z.number().nullable().describe("Seconds, without the time in the queue; null if it never began."),
  input_tokens: tokens,
  output_tokens: tokens,
  cached_tokens: tokens.describe("Those of the input that the backend had in its cache."),
  price: amount("").describe("Dollars; 0 where it failed."),
  cache_write_tokens: z.int().describe("Input tokens that the backend wrote to its cache."),
});
/** A prediction that has ended, and what it cost. */
export type UsageRecord = z.infer<typeof usageRecord>;

const expense = z.object({
  model_name: z.string(),
  request_count: z.int().describe("Predictions that cost something."),
  sub_total_spent: amount(""),
  avg_per_request: amount("for one of these"),
});

export const expensesRecord = z.object({
  results: z.array(expense).describe("What cost most first."),
  start_date: z.iso.datetime(),
  end_date: z.iso.datetime(),
  page: z.int(),
  total_spent: amount("in the whole range, not on this page"),
  total_count: z.int().describe("Predictions in the whole range that cost something."),
  total_models: z.int().describe("Models in the whole range that cost something."),
  total_pages: z.int(),
});
/**
 * What a user spent, by model, in dollars: requests that cost something, none else. The totals are those of the range, not
 * of the page.
 */
export type ExpensesRecord = z.infer<typeof expensesRecord>;

const currency = z.literal("USD");

export const creditRecord = z.object({
  balance: amount("after it"),
  currency,
  entry: z
    .object({ id: z.int(), amount: amount(""), reason: z.string(), created_at: z.iso.datetime() })
    .describe("Of the ledger."),
});
/** A wallet after money was added or taken away, and the entry of the ledger. In dollars. */
export type CreditRecord = z.infer<typeof creditRecord>;

export const ledgerEntryRecord = z.object({
  id: z
    .int()
    .describe(
      "Unique in the list. A charge of a single prediction is numbered by its moment, in microseconds since 1970.",
    ),
  created_at: z.iso.datetime(),
  kind: z
    .enum(["credit", "correction", "charge", "sale"])
    .describe(
      "Money added by an admin, or taken away by one; a prediction that was paid, or all of a day that is no longer in usage; a run of an agent that was paid, or earned.",
    ),
  amount: amount("").describe("Dollars; what came in is positive, what was taken negative."),
  reference: z
    .string()
    .nullable()
    .describe("The id of the prediction or run of a charge or sale. Null for a day's charges."),
  reason: z
    .string()
    .nullable()
    .describe("What the admin said of a credit or correction, or the day whose predictions were charged."),
});
/** A movement of a wallet. In dollars. */
export type LedgerEntryRecord = z.infer<typeof ledgerEntryRecord>;

export const ledgerRecord = z
  .object({
    accounts: z.int(),
    sum: amount("over all accounts; anything but 0 is wrong"),
    currency,
    discrepancies: z.array(
      z.object({
        rule: z.string(),
        subject: z.string().describe("The wallet, request, model or hour that it is about."),
        expected: z.number().nullable().describe("As in the books: a number of things, or millionths of a dollar."),
        found: z.number().nullable(),
      }),
    ),
  })
  .describe("Whether the books are right: they are when nothing is listed.");
/** Whether the books are right: they are when nothing is listed. */
export type LedgerRecord = z.infer<typeof ledgerRecord>;

export const turnoverRecord = z.object({
  requests: z.int(),
  paid_requests: z.int(),
  spent: amount(""),
});

export const overviewRecord = z
  .object({
    users: z.object({
      total: z.int(),
      disabled: z.int(),
      admins: z.int(),
      below_zero: z.int().describe("With a balance below zero."),
    }),
    models: z.object({ total: z.int(), public: z.int(), private: z.int(), inactive: z.int() }),
    predictions: z.object({ running: z.int(), waiting: z.int() }),
    nodes: z.int().describe("Servers that run at this moment."),
    today: turnoverRecord.describe("Since midnight UTC."),
    last_7_days: turnoverRecord.describe("Today and the six days of UTC before it."),
    top_models: z
      .array(z.object({ model_name: z.string(), requests: z.int(), spent: amount("") }))
      .describe("What cost most in seven days."),
    books: z
      .object({
        balances: amount("in all wallets"),
        reserved: amount("of these for what runs or waits"),
        platform: amount(""),
        outside: amount(""),
        sum: amount("over all sides of the ledger; anything but 0 means that the books are wrong"),
      })
      .describe("The sides of the ledger."),
    currency,
  })
  .describe("The whole installation on one page.");
/** The whole installation on one page. Money in dollars. */
export type OverviewRecord = z.infer<typeof overviewRecord>;
