import { isDeepStrictEqual } from "node:util";
import { fault } from "../../../kernel/errors.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { type Action, readerOf } from "./action-table.ts";
import { buildRequest } from "./build-request.rules.ts";
import { callTenant, type IdpContext, type Tenant, TenantRefusal, WaitBudget } from "./call-tenant.ts";
import { checkArguments } from "./check-arguments.ts";
import { cutForConfirmation } from "./cut-long-text.rules.ts";
import { maskAnswer, maskSent, scrubDeep } from "./mask.rules.ts";
import { type ActionOutcome, type Arguments, actionOrThrow, runAction } from "./run-action.ts";
import { openConnector } from "./stored-connector.ts";

/** Confirmation before a write: everything that will be sent, with secrets masked. */
export interface WritePreview {
  action: string;
  description: string;
  tenant: string;
  method: string;
  /** Relative to `https://{tenant}/api/v2`, with the query. */
  path: string;
  body: unknown;
  destructive: boolean;
  /** Fields that an update changes. */
  changes?: Record<string, { old?: unknown; new: unknown }>;
  warnings: string[];
}

/** A person waits for the confirmation, so reading the old values must be fast. */
const longestWaitMs = 5000;

export async function previewWrite(
  context: IdpContext,
  userId: string,
  name: string,
  given: Arguments,
  signal?: AbortSignal,
): Promise<WritePreview> {
  const action = actionOrThrow(name);
  if (action.kind !== "write") throw fault("conflict", `${name} only reads and needs no confirmation`);
  const advice = checkArguments(action, given);
  const request = buildRequest(action, given);
  const { tenant, connector } = await openConnector(context, userId);
  const { changes, trouble } = await changesOf(context, action, tenant, given, request.body ?? {}, signal);
  return {
    action: action.name,
    description: action.description,
    tenant: tenant.domain,
    method: request.method,
    path: request.path,
    body: request.body ? shown(maskSent(action, request.body), tenant) : null,
    destructive: action.destructive === true,
    ...(changes && { changes }),
    warnings: [...connector.warnings, ...advice, ...trouble],
  };
}

type Changes = NonNullable<WritePreview["changes"]>;

async function changesOf(
  context: IdpContext,
  action: Action,
  tenant: Tenant,
  given: Arguments,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal | undefined,
): Promise<{ changes?: Changes; trouble: string[] }> {
  const reader = readerOf(action);
  if (!reader) return { trouble: [] };
  const old = await readOld(context, reader, tenant, given, signal);
  if (typeof old === "string") return { trouble: [old] };
  const [oldMasked, newMasked] = [maskAnswer(action, old, { sent: body, token: tenant.token }), maskSent(action, body)];
  const changes: Changes = {};
  for (const [field, value] of Object.entries(body)) {
    // Compared unmasked, so that a changed secret shows too.
    if (isDeepStrictEqual(old[field], value)) continue;
    changes[field] = {
      ...(Object.hasOwn(old, field) && { old: shown(oldMasked[field], tenant) }),
      new: shown(newMasked[field], tenant),
    };
  }
  return { changes, trouble: [] };
}

/** The record, or why it could not be read. Either way the confirmation is shown. */
async function readOld(
  context: IdpContext,
  reader: Action,
  tenant: Tenant,
  given: Arguments,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown> | string> {
  const only = Object.fromEntries(reader.path_params.map(({ name }) => [name, given[name]]));
  const longestMs = Math.min(longestWaitMs, context.limits.waitMs);
  const budget = new WaitBudget(longestMs);
  const deadline = AbortSignal.timeout(longestMs);
  const stopped = signal ? AbortSignal.any([signal, deadline]) : deadline;
  try {
    const { body } = await callTenant(context, tenant, buildRequest(reader, only), { budget, signal: stopped });
    return isRecord(body) ? body : "The current values could not be read";
  } catch (error) {
    signal?.throwIfAborted();
    if (deadline.aborted) return "The current values could not be read in time";
    if (error instanceof TenantRefusal && error.status === 404) return "The tenant does not have this object (404)";
    const why = error instanceof TenantRefusal ? ` (${error.status})` : "";
    return `The current values could not be read${why}`;
  }
}

function shown(value: unknown, tenant: Tenant): unknown {
  return cutForConfirmation(scrubDeep(value, [tenant.token]));
}

/** A write without confirmation is answered with its preview. */
export async function callAction(
  context: IdpContext,
  userId: string,
  name: string,
  call: { arguments: Arguments; confirm: boolean; signal?: AbortSignal },
): Promise<ActionOutcome> {
  const action = actionOrThrow(name);
  if (action.kind === "write" && !call.confirm) {
    const preview = await previewWrite(context, userId, name, call.arguments, call.signal);
    throw fault("confirmation_required", `${name} changes the tenant. Repeat the call with confirm: true to run it.`, {
      ctx: { ...preview },
    });
  }
  return runAction(context, userId, name, call.arguments, call.signal);
}
