import type { IdpOutcomeRecord } from "@gantry/wire";
import { fault } from "../../../kernel/errors.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { type Action, findAction } from "./action-table.ts";
import { buildRequest, type TenantRequest } from "./build-request.rules.ts";
import {
  callTenant,
  type IdpContext,
  type Tenant,
  type TenantAnswer,
  TenantRefusal,
  WaitBudget,
} from "./call-tenant.ts";
import { checkArguments } from "./check-arguments.ts";
import { cutForCaller, cutForModel } from "./cut-long-text.rules.ts";
import { maskAnswer, secretsSent } from "./mask.rules.ts";
import { openConnector } from "./stored-connector.ts";
import { toActionFault } from "./tenant-errors.rules.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** `last4` only if the value is long enough. */
interface OneTimeSecret {
  field: string;
  value: string;
  last4?: string;
}

/** Secrets are masked, except a new one in `oneTimeSecret` and `forCaller`. */
export interface ActionOutcome {
  /** For a direct caller. */
  forCaller: IdpOutcomeRecord;
  /** For a model, its events and its prompts. */
  forModel: { result: unknown; warnings?: string[] };
  /** A secret that the call created, to be shown once to the caller only. */
  oneTimeSecret?: OneTimeSecret;
}

/** The last four characters of a shorter secret would reveal too much. */
const shortestWithTail = 12;

const deployWaitMs = 2000;
const mostDeployTries = 20;

export function actionOrThrow(name: string): Action {
  const action = findAction(name);
  if (!action) throw fault("not_found", `Action ${JSON.stringify(name.slice(0, 80))} does not exist`);
  return action;
}

/** The caller must have the confirmation of a write. */
export async function runAction(
  context: IdpContext,
  userId: string,
  name: string,
  given: Arguments,
  signal?: AbortSignal,
): Promise<ActionOutcome> {
  const action = actionOrThrow(name);
  const advice = checkArguments(action, given);
  const request = buildRequest(action, given);
  const { tenant, connector } = await openConnector(context, userId);
  const budget = new WaitBudget(context.limits.waitMs);
  if (action.kind === "write")
    context.log.info({ user_id: userId, tenant: tenant.domain, action: name }, "Identity write");
  try {
    const { body } = await execute(context, action, tenant, request, { budget, signal });
    const call = { sent: request.body, token: tenant.token };
    return outcomeOf(action, body, maskAnswer(action, body, call), [...connector.warnings, ...advice]);
  } catch (error) {
    throw toActionFault(error, {
      action,
      domain: tenant.domain,
      tokenScopes: connector.scopes,
      tokenWarnings: connector.warnings,
      secrets: [tenant.token, ...secretsSent(action, request.body)],
    });
  }
}

interface Calling {
  budget: WaitBudget;
  signal: AbortSignal | undefined;
}

function execute(
  context: IdpContext,
  action: Action,
  tenant: Tenant,
  request: TenantRequest,
  calling: Calling,
): Promise<TenantAnswer> {
  if (action.upstream?.emulated) return readEach(context, action, tenant, calling);
  if (action.retry_until_built) return deployWhenBuilt(context, tenant, request, calling);
  return callTenant(context, tenant, request, calling);
}

/** Emulates a list that the API lacks: reads each known name in sequence and skips missing ones. */
async function readEach(context: IdpContext, action: Action, tenant: Tenant, calling: Calling): Promise<TenantAnswer> {
  const { names = [], path: template = "", absent_when_forbidden: optional = [] } = action.upstream ?? {};
  const found: unknown[] = [];
  for (const name of names) {
    const path = template.replace(/\{[^}]+\}/, name);
    try {
      found.push((await callTenant(context, tenant, { method: "GET", path }, calling)).body);
    } catch (error) {
      const status = error instanceof TenantRefusal ? error.status : undefined;
      const isAbsent = status === 404 || (status === 403 && optional.includes(name));
      if (!isAbsent) throw error;
    }
  }
  return { status: 200, body: found };
}

/** The tenant builds a saved draft for some seconds and refuses to deploy it until then. */
async function deployWhenBuilt(
  context: IdpContext,
  tenant: Tenant,
  request: TenantRequest,
  calling: Calling,
): Promise<TenantAnswer> {
  for (let tries = 1; ; tries++) {
    try {
      return await callTenant(context, tenant, request, calling);
    } catch (error) {
      if (tries === mostDeployTries || !isNotBuilt(error)) throw error;
      await context.sleep(deployWaitMs, calling.signal);
    }
  }
}

function isNotBuilt(error: unknown): boolean {
  if (!(error instanceof TenantRefusal) || error.status < 400 || error.status >= 500 || !isRecord(error.body))
    return false;
  return /\bbuilt\b/i.test(String(error.body.message)) && /\bstate\b/i.test(String(error.body.message));
}

function outcomeOf(action: Action, body: unknown, masked: unknown, warnings: string[]): ActionOutcome {
  const more = warnings.length > 0 ? { warnings } : {};
  const outcome: ActionOutcome = {
    forCaller: { result: cutForCaller(action, masked), ...more },
    // Tells a model explicitly that an empty answer means success.
    forModel: { result: masked === null ? { done: true } : cutForModel(action, masked), ...more },
  };
  const field = action.made_secret;
  return field === undefined ? outcome : withOneTimeSecret(outcome, field, body);
}

function withOneTimeSecret({ forCaller, forModel }: ActionOutcome, field: string, body: unknown): ActionOutcome {
  const value = isRecord(body) ? body[field] : undefined;
  if (typeof value !== "string" || value === "" || !isRecord(forCaller.result) || !isRecord(forModel.result))
    return { forCaller, forModel };
  const last4 = value.length < shortestWithTail ? undefined : value.slice(-4);
  return {
    forCaller: { ...forCaller, result: { ...forCaller.result, [field]: value } },
    forModel: { ...forModel, result: { ...forModel.result, ...(last4 && { [field]: `…${last4}` }) } },
    oneTimeSecret: { field, value, ...(last4 && { last4 }) },
  };
}
