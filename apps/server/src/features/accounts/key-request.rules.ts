import { createKeyBody } from "@gantry/wire";
import { type Issue, throwIfAny } from "../../kernel/errors.ts";
import { dollarsOfMicros, microsOfDollars } from "../../kernel/money.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";
import type { KeyReach } from "./key-reach.rules.ts";

export interface KeyRequest extends KeyReach {
  name: string;
}

/** Reports all problems of the body in one fault. */
export function readKeyRequest(body: unknown, now: Date): KeyRequest {
  throwIfAny([...schemaIssues(createKeyBody, body, ["body"]), ...expiryIssues(body, now), ...limitIssues(body)]);
  const wanted = createKeyBody.parse(body);
  return {
    name: wanted.name ?? "",
    expiresAt: wanted.expires_at == null ? null : utc(wanted.expires_at),
    models: wanted.models ?? null,
    monthlyLimitMicros: wanted.monthly_limit == null ? null : microsOfDollars(wanted.monthly_limit),
  };
}

function expiryIssues(body: unknown, now: Date): Issue[] {
  const given = createKeyBody.shape.expires_at.safeParse((body as { expires_at?: unknown } | null)?.expires_at);
  if (!given.success || given.data == null || utc(given.data) > now) return [];
  return [{ type: "value_error", loc: ["body", "expires_at"], msg: "The time must be in the future" }];
}

function limitIssues(body: unknown): Issue[] {
  const given = createKeyBody.shape.monthly_limit.safeParse(
    (body as { monthly_limit?: unknown } | null)?.monthly_limit,
  );
  if (!given.success || given.data == null || dollarsOfMicros(microsOfDollars(given.data)) === given.data) return [];
  const msg = "At most six decimals: the smallest amount is a millionth of a dollar";
  return [{ type: "value_error", loc: ["body", "monthly_limit"], msg }];
}

function utc(text: string): Date {
  return new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);
}
