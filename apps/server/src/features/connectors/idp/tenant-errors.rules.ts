import { NetError } from "../../../engines/net/net.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import type { Action } from "./action-table.ts";
import { isOutage, TenantRefusal } from "./call-tenant.ts";
import { withStop } from "./describe-action.rules.ts";
import { scrub } from "./mask.rules.ts";
import { isAllowed } from "./token-claims.rules.ts";

export interface ErrorContext {
  action: Action;
  domain: string;
  tokenScopes: readonly string[] | null;
  /** Known reasons why the token may be refused. */
  tokenWarnings: readonly string[];
  /** The token and the sent secrets, which errors must not contain. */
  secrets: readonly string[];
}

const longestMessage = 1000;

/** Explains a failed call: what happened and what to do. */
export function toActionFault(error: unknown, context: ErrorContext): unknown {
  if (error instanceof TenantRefusal) return refusalFault(error, context);
  if (error instanceof NetError) return noAnswerFault(error, context);
  if (error instanceof Fault && error.type === "rate_limit") {
    return fault("rate_limit", error.message, {
      ctx: { action: context.action.name, ...error.issues[0].ctx },
      ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
    });
  }
  return error;
}

function refusalFault(refusal: TenantRefusal, context: ErrorContext): Fault {
  const { status, body } = refusal;
  const { message, errorCode } = readError(body, context.secrets);
  const { what, toDo, ...more } = meaningOf(status, errorCode, message, context);
  const rules =
    context.action.deprecated && !isOutage(status) && status !== 401
      ? " Rules are ending and newer tenants refuse them: use the idp_action_… actions instead."
      : "";
  const quote = message === "" ? "" : ` The tenant says: ${withStop(message)}`;
  return fault("downstream_service_error", `${what} (${status}).${quote} ${toDo}${rules}`, {
    cause: refusal,
    // The tenant may quote what was sent.
    logged: "The tenant refused an action",
    retryable: isOutage(status) && context.action.method === "GET",
    ctx: {
      action: context.action.name,
      status,
      ...(errorCode !== "" && { error_code: errorCode }),
      ...(message !== "" && { message }),
      what_to_do: `${toDo}${rules}`,
      ...more,
    },
  });
}

/** `{statusCode, error, message, errorCode?}`. */
function readError(body: unknown, secrets: readonly string[]): { message: string; errorCode: string } {
  const text = isRecord(body) ? (body.message ?? body.error_description ?? body.error) : "";
  const code = isRecord(body) ? body.errorCode : "";
  return {
    // Scrubbed before it is cut, or half a secret could remain.
    message: typeof text === "string" ? scrub(text, secrets).slice(0, longestMessage).trim() : "",
    errorCode: typeof code === "string" ? scrub(code, secrets).slice(0, 100) : "",
  };
}

interface Meaning {
  what: string;
  toDo: string;
  missing_scopes?: string[];
  field?: string;
  outcome?: "unknown";
}

function meaningOf(status: number, errorCode: string, message: string, context: ErrorContext): Meaning {
  const { action } = context;
  if (status === 401) {
    const why = context.tokenWarnings.length > 0 ? ` ${context.tokenWarnings.join(" ")}.` : "";
    return {
      what: "The tenant refused the management token",
      toDo: `The token is wrong, expired or revoked.${why} Store a new one with PUT /v1/connectors/idp.`,
    };
  }
  if (status === 403) return forbidden(errorCode, message, context);
  if (status === 404) {
    const advice = action.when_not_found === undefined ? "" : ` ${action.when_not_found}`;
    const toDo =
      action.path_params.length > 0
        ? "Check the id, for example with the matching list."
        : "Check what the arguments name, and that the tenant offers this.";
    return { what: "The tenant does not have this object", toDo: `${toDo}${advice}` };
  }
  if (status === 409) {
    return {
      what: "The tenant reports a conflict",
      toDo: "The object exists already. Read or update it, or choose another name.",
    };
  }
  if (isOutage(status)) {
    const what = "The tenant failed";
    if (action.method === "GET") return { what, toDo: "The tenant's service failed. Try again later." };
    const unknown = "whether the change was made is unknown. Read the state before you repeat it.";
    return { what, toDo: `The tenant's service failed, and ${unknown}`, outcome: "unknown" };
  }
  if (status >= 300 && status < 400) {
    return { what: "The tenant answered with a redirect", toDo: "Check the domain: it must be the tenant's own." };
  }
  const field = fieldIn(message);
  const what = "The tenant refused the call";
  if (field !== undefined) return { what, toDo: `Correct the field ${field} and repeat.`, field };
  if (message !== "") return { what, toDo: "Correct the arguments as the message says and repeat." };
  return { what, toDo: "It does not say why: check the arguments, and that the tenant offers this." };
}

function forbidden(errorCode: string, message: string, { action, tokenScopes }: ErrorContext): Meaning {
  const what = "The tenant does not allow this";
  const named = /scope/i.test(message) ? (message.match(/\b[a-z]+:[a-z_]+\b/g) ?? []) : [];
  // Without a code from the tenant, the token's scopes are the best evidence.
  const allowed = errorCode === "" ? isAllowed(tokenScopes, action.scopes) : true;
  if (errorCode === "insufficient_scope" || named.length > 0 || allowed === false) {
    const wanted = named.length > 0 ? [...new Set(named)] : [...action.scopes];
    const missing = wanted.filter((scope) => !tokenScopes?.includes(scope));
    const scopes = missing.length > 0 ? missing : wanted;
    return {
      what,
      toDo: `The token lacks a scope: grant it ${scopes.length > 1 ? "one of " : ""}${scopes.join(", ")} and store the new token.`,
      missing_scopes: scopes,
    };
  }
  const plan = "The tenant's plan or settings do not include it: enable it in the tenant, or do without.";
  if (allowed !== null) return { what, toDo: plan };
  const scopes = action.scopes.join(", ");
  return { what, toDo: `The token may lack a scope (${scopes}): grant it and store the new token. Otherwise: ${plan}` };
}

/** Error formats of the API's validator. */
function fieldIn(message: string): string | undefined {
  const found =
    /on property ([\w.[\]-]+)/.exec(message) ??
    /(?:Missing required property|Additional properties not allowed): ([\w.[\]-]+)/.exec(message) ??
    /^"([\w.[\]-]+)" (?:is|must|length)/.exec(message);
  return found?.[1]?.replace(/\.$/, "");
}

function noAnswerFault(error: NetError, { action, domain }: ErrorContext): Fault {
  const sent = action.method !== "GET" && ["timeout", "cut", "too_large"].includes(error.reason);
  const toDo = sent
    ? "Whether the change was made is unknown. Read the state before you repeat it."
    : error.reason === "too_large"
      ? "Ask for less: a smaller per_page, or only some fields."
      : "Check that the domain is right and reachable, or try again later.";
  return fault("downstream_service_error", `${domain}: ${error.message}. ${toDo}`, {
    cause: error,
    retryable: action.method === "GET" && error.reason !== "too_large",
    ctx: {
      action: action.name,
      status: null,
      reason: error.reason,
      what_to_do: toDo,
      ...(action.method !== "GET" && { outcome: sent ? "unknown" : "not_done" }),
    },
  });
}
