import { z } from "zod";

/** Far above all use, and far below where a number stops being exact. */
const maxDollars = 1_000_000;
const maxReasonLength = 500;

export const creditBody = z.strictObject({
  amount: z
    .number("Must be a number of dollars")
    .min(-maxDollars, `Must be at least ${-maxDollars}`)
    .max(maxDollars, `Must be at most ${maxDollars}`)
    .superRefine((amount, ctx) => {
      if (Math.abs(amount) > maxDollars) return;
      if (amount === 0) ctx.addIssue({ code: "custom", message: "Must not be zero" });
      else if (Math.round(amount * 1e6) / 1e6 !== amount) {
        const message = "At most six decimals: the smallest amount is a millionth of a dollar";
        ctx.addIssue({ code: "custom", message });
      }
    })
    .describe("Dollars; negative to deduct. Not 0, at most six decimals."),
  reason: z
    .string("Must be text")
    .trim()
    .superRefine((reason, ctx) => {
      // In Unicode characters, as JSON Schema counts them.
      const length = [...reason].length;
      if (length === 0) {
        ctx.addIssue({ code: "too_small", origin: "string", minimum: 1, message: "Must not be empty" });
      } else if (length > maxReasonLength) {
        const message = `At most ${maxReasonLength} characters`;
        ctx.addIssue({ code: "too_big", origin: "string", maximum: maxReasonLength, message });
      } else if (/\p{Cc}/u.test(reason)) {
        ctx.addIssue({ code: "custom", message: "Must not contain control characters" });
      }
    })
    .meta({ minLength: 1, maxLength: maxReasonLength, description: "Shown in the ledger with the amount." }),
});

const amount = (of: string) => z.number().describe(`Dollars${of && ` ${of}`}.`);
const tokens = z.int().nullable();

/** The protocols of other services that Gantry speaks. */
export const doors = [
  "openai-chat",
  "openai-responses",
  "openai-embeddings",
  "openai-images",
  "anthropic-messages",
  "mcp",
] as const;
export type Door = (typeof doors)[number];

/** The order of the columns in CSV. */
export const usageRecord = z.object({
  request_id: z.string().describe("The id of the prediction."),
  model_name: z.string().describe("`owner/model` at the time of the call."),
  route: z.enum(["sync", "stream", "async", "agent"]).describe("How the prediction was called."),
  status: z.int().describe("The status of the answer: 200, or that of the error."),
  created_at: z.iso.datetime(),
  inference_time: z.number().nullable().describe("Seconds, without the time in the queue; null if it never started."),
  input_tokens: tokens,
  output_tokens: tokens,
  cached_tokens: tokens.describe("Input tokens that the backend read from its cache."),
  price: amount("").describe("Dollars; 0 if it failed."),
  cache_write_tokens: z.int().describe("Input tokens that the backend wrote to its cache."),
  door: z.enum(doors).nullable().describe("The protocol of the client; null for Gantry's own API."),
  backend: z
    .string()
    .nullable()
    .describe(
      "The backend that answered, or the last one that was tried. Null for models of others and keys limited to models.",
    ),
});
/** A prediction that has ended, and what it cost. */
export type UsageRecord = z.infer<typeof usageRecord>;

const expense = z.object({
  model_name: z.string(),
  request_count: z.int().describe("Predictions that cost something."),
  sub_total_spent: amount(""),
  avg_per_request: amount("per request"),
});

export const expensesRecord = z.object({
  results: z.array(expense).describe("Most expensive first."),
  start_date: z.iso.datetime(),
  end_date: z.iso.datetime(),
  page: z.int(),
  total_spent: amount("in the whole range, not on this page"),
  total_count: z.int().describe("Predictions in the whole range that cost something."),
  total_models: z.int().describe("Models in the whole range that cost something."),
  total_pages: z.int(),
});
/** Only requests that cost something count. Totals are those of the range, not of the page. */
export type ExpensesRecord = z.infer<typeof expensesRecord>;

const currency = z.literal("USD");

export const creditRecord = z.object({
  balance: amount("after it"),
  currency,
  entry: z
    .object({ id: z.int(), amount: amount(""), reason: z.string(), created_at: z.iso.datetime() })
    .describe("The ledger entry."),
});
export type CreditRecord = z.infer<typeof creditRecord>;

export const ledgerEntryRecord = z.object({
  id: z
    .int()
    .describe(
      "Unique in the list. The charge of a single prediction is numbered by its time, in microseconds since 1970.",
    ),
  created_at: z.iso.datetime(),
  kind: z
    .enum(["credit", "correction", "charge", "sale"])
    .describe(
      "Credit or deduction by an admin; charge of a prediction, or of a whole day that is no longer in usage; charge of or income from an agent run.",
    ),
  amount: amount("").describe("Dollars; positive for income, negative for charges."),
  reference: z.string().nullable().describe("The id of the prediction or run. Null for the charges of a day."),
  model_name: z
    .string()
    .nullable()
    .describe(
      "What was paid for: `owner/model`, or `agents/creator/slug`. Null for income and once usage has expired.",
    ),
  reason: z.string().nullable().describe("The admin's reason for a credit or correction, or the day of the charges."),
});
export type LedgerEntryRecord = z.infer<typeof ledgerEntryRecord>;

export const ledgerRecord = z
  .object({
    accounts: z.int(),
    sum: amount("over all accounts; must be 0"),
    currency,
    discrepancies: z.array(
      z.object({
        rule: z.string(),
        subject: z.string().describe("The affected wallet, request, model or hour."),
        expected: z.number().nullable().describe("A count, or millionths of a dollar."),
        found: z.number().nullable(),
      }),
    ),
  })
  .describe("The ledger is correct if nothing is listed.");
/** The ledger is correct if nothing is listed. */
export type LedgerRecord = z.infer<typeof ledgerRecord>;

export const turnoverRecord = z.object({
  requests: z.int(),
  paid_requests: z.int(),
  spent: amount(""),
});

export const overviewRecord = z
  .object({
    users: z.object({
      total: z.int().describe("Without teams."),
      teams: z.int(),
      disabled: z.int(),
      admins: z.int(),
      below_zero: z.int().describe("Users and teams with a negative balance."),
    }),
    models: z.object({ total: z.int(), public: z.int(), private: z.int(), inactive: z.int() }),
    predictions: z.object({ running: z.int(), waiting: z.int() }),
    nodes: z.int().describe("Running servers."),
    today: turnoverRecord.describe("Since midnight UTC."),
    last_7_days: turnoverRecord.describe("Today and the six days before, in UTC."),
    top_models: z
      .array(z.object({ model_name: z.string(), requests: z.int(), spent: amount("") }))
      .describe("The most expensive models of the last seven days."),
    books: z
      .object({
        balances: amount("in all wallets"),
        reserved: amount("of these on hold for accepted work"),
        platform: amount(""),
        outside: amount(""),
        sum: amount("over all sides of the ledger; must be 0"),
      })
      .describe("The sides of the ledger."),
    keeps: z
      .object({
        inputs: z.boolean().describe("Whether inputs of predictions are kept with their results."),
        result_days: z.int().describe("Results, runs and files of predictions."),
        usage_days: z.int().describe("Single usage rows. Totals are kept forever."),
        delivery_days: z.int().describe("Records of webhook deliveries."),
      })
      .describe("How long the installation keeps data, in days."),
    currency,
  })
  .describe("An overview of the installation.");
/** An overview of the installation. Money in dollars. */
export type OverviewRecord = z.infer<typeof overviewRecord>;
