import { changeKeyBody, createKeyBody } from "@gantry/wire";
import { type Issue, throwIfAny } from "../../kernel/errors.ts";
import { dollarsOfMicros, microsOfDollars } from "../../kernel/money.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";
import type { KeyReach } from "./key-reach.rules.ts";

/** Fields that are missing stay as they are. */
export type KeyChange = Partial<Omit<KeyRequest, "parentId">>;

export interface KeyRequest extends KeyReach {
  name: string;
  /** Default: true. */
  keepsInputs?: boolean;
  /** The key whose limits it counts towards too. */
  parentId?: string | null;
}

/** Reports all problems of the body in one fault. */
export function readKeyRequest(body: unknown, now: Date): KeyRequest {
  check(createKeyBody, body, now);
  const wanted = createKeyBody.parse(body);
  return {
    name: wanted.name ?? "",
    expiresAt: momentOf(wanted.expires_at ?? null),
    models: wanted.models ?? null,
    keepsInputs: wanted.keep_inputs ?? true,
    monthlyLimitMicros: microsOf(wanted.monthly_limit ?? null),
    dailyLimitMicros: microsOf(wanted.daily_limit ?? null),
    tokensPerMinute: wanted.tokens_per_minute ?? null,
  };
}

/** Reports all problems of the body in one fault. */
export function readKeyChange(body: unknown, now: Date): KeyChange {
  check(changeKeyBody, body, now);
  const { name, expires_at, models, keep_inputs, monthly_limit, daily_limit, tokens_per_minute } =
    changeKeyBody.parse(body);
  return {
    ...(name !== undefined && { name }),
    ...(expires_at !== undefined && { expiresAt: momentOf(expires_at) }),
    ...(models !== undefined && { models: models && [...new Set(models)] }),
    ...(keep_inputs !== undefined && { keepsInputs: keep_inputs }),
    ...(monthly_limit !== undefined && { monthlyLimitMicros: microsOf(monthly_limit) }),
    ...(daily_limit !== undefined && { dailyLimitMicros: microsOf(daily_limit) }),
    ...(tokens_per_minute !== undefined && { tokensPerMinute: tokens_per_minute }),
  };
}

function check(schema: typeof createKeyBody | typeof changeKeyBody, body: unknown, now: Date): void {
  const budgets = ["monthly_limit", "daily_limit"] as const;
  throwIfAny([
    ...schemaIssues(schema, body, ["body"]),
    ...expiryIssues(body, now),
    ...budgets.flatMap((name) => budgetIssues(body, name)),
  ]);
}

function expiryIssues(body: unknown, now: Date): Issue[] {
  const given = createKeyBody.shape.expires_at.safeParse((body as { expires_at?: unknown } | null)?.expires_at);
  if (!given.success || given.data == null || utc(given.data) > now) return [];
  return [{ type: "value_error", loc: ["body", "expires_at"], msg: "The time must be in the future" }];
}

function budgetIssues(body: unknown, name: "monthly_limit" | "daily_limit"): Issue[] {
  const given = createKeyBody.shape[name].safeParse((body as Record<string, unknown> | null)?.[name]);
  if (!given.success || given.data == null || dollarsOfMicros(microsOfDollars(given.data)) === given.data) return [];
  const msg = "At most six decimals: the smallest amount is a millionth of a dollar";
  return [{ type: "value_error", loc: ["body", name], msg }];
}

const microsOf = (dollars: number | null): number | null => (dollars === null ? null : microsOfDollars(dollars));
const momentOf = (text: string | null): Date | null => (text === null ? null : utc(text));

function utc(text: string): Date {
  return new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);
}
