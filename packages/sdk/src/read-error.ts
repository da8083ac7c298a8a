import { GantryError, type GantryErrorType, type GantryIssue, idsIn } from "./errors.ts";

/** A response, an event in one, or the stored result of a prediction. */
interface Source {
  status: number;
  headers?: Headers | undefined;
  /** Set for a stored result; the headers do not have it. */
  predictionId?: string;
  requestId?: string | undefined;
}

interface RawIssue {
  loc?: (string | number)[];
  msg?: string;
  message?: string;
  type?: string;
  reason?: string | undefined;
  ctx?: Record<string, unknown>;
  input?: unknown;
}

interface AnyErrorBody {
  /** Set in an event if it differs from the type's default. */
  retryable?: boolean;
  detail?: string | RawIssue[];
  type?: string;
  error?: { code?: string; type?: string; message?: string; details?: unknown };
}

/** Errors without a type in the body. */
const typeOfStatus: Readonly<Record<number, GantryErrorType>> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  405: "method_not_allowed",
  409: "conflict",
  412: "precondition_failed",
  421: "misdirected_request",
};

/** Errors of the agents platform to HEAD, which have no body. */
const typeOfHead: Readonly<Record<number, GantryErrorType>> = {
  400: "invalid_input",
  429: "rate_limit",
  500: "internal",
  503: "unavailable",
};

/** Used without the header: Gantry's retryable statuses, and those of gateways. */
const retryableOutcomes = [429, 500, 503, 504, 507];
const gatewayFailures = [429, 502, 503, 504];

/**
 * Reads the three forms of errors: a list of issues, a sentence, and `{error: {type, message, details}}` of the agents
 * platform.
 */
export function errorFrom({ status, headers, ...told }: Source, body: unknown): GantryError {
  const { detail, error, type: named, retryable } = Object(body) as AnyErrorBody;
  const issues = issuesOf(detail ?? error?.details);
  const sentence = typeof detail === "string" ? detail : undefined;
  const header = headers?.get("x-service-retryable");
  // Responses of gateways lack the header.
  const ofHead = body === undefined && header ? typeOfHead[status] : undefined;
  const type = error?.type ?? error?.code ?? issues[0]?.type ?? named ?? ofHead ?? typeOfSentence(status, sentence);
  const byStatus = (type === undefined ? gatewayFailures : retryableOutcomes).includes(status);
  return new GantryError({
    status,
    type,
    message: messageOf(issues) ?? sentence ?? error?.message ?? plainMessage(status, headers),
    retryable: typeof retryable === "boolean" ? retryable : header ? header === "true" : byStatus,
    ...idsIn(headers),
    ...told,
    body,
    issues,
    details: detailsOf(error?.details),
    retryAfter: secondsOf(headers?.get("retry-after")),
  });
}

function issuesOf(list: unknown): GantryIssue[] {
  if (!Array.isArray(list)) return [];
  const issues = list.filter((one): one is RawIssue => typeof one === "object" && one !== null);
  return issues.map(({ loc, msg, message, type, reason, ctx, input }) => ({
    loc: Array.isArray(loc) ? loc : ["body"],
    message: msg ?? message ?? "",
    type: type ?? reason ?? "value_error",
    ...(ctx && { ctx }),
    ...(input !== undefined && { input }),
  }));
}

/** A list holds issues instead. */
function detailsOf(told: unknown): Record<string, unknown> | undefined {
  return typeof told === "object" && told !== null && !Array.isArray(told) ? { ...told } : undefined;
}

function messageOf(issues: readonly GantryIssue[]): string | undefined {
  return issues.length === 0 ? undefined : issues.map(sentenceOf).join("; ");
}

/** A location without a field adds nothing to the message. */
function sentenceOf({ loc, message }: GantryIssue): string {
  return loc.length > 1 ? `${loc.join(".")}: ${message}` : message;
}

/** The specification fixes this sentence; only it distinguishes an empty wallet from a missing permission. */
function typeOfSentence(status: number, sentence: string | undefined): GantryErrorType | undefined {
  return status === 403 && sentence === "Insufficient funds" ? "insufficient_funds" : typeOfStatus[status];
}

/** Redirects are not followed, because the key would go with them. */
function plainMessage(status: number, headers: Headers | undefined): string {
  const location = headers?.get("location");
  return `HTTP ${status}${location ? `, redirect to ${location}` : ""}`;
}

/** Seconds, or a date as some proxies send it. */
function secondsOf(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
