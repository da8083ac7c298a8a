import { type ErrorType, errorTable } from "@gantry/wire";

export type Loc = readonly (string | number)[];

/** One problem as the client sees it. `msg` is public; internal details belong in `cause`. */
export interface Issue {
  type: ErrorType;
  loc: Loc;
  msg: string;
  ctx?: Record<string, unknown>;
  input?: unknown;
}

interface FaultOptions {
  /** The internal reason: logged, never sent. */
  cause?: unknown;
  /** Logged instead of the message, if the message may quote a secret. */
  logged?: string;
  /** Overrides the default of the error table. */
  retryable?: boolean;
  retryAfterSeconds?: number;
  /** Response headers, for example the rate limits. */
  headers?: Record<string, string>;
}

/**
 * The only error that features and engines throw on purpose. Each HTTP surface formats it in its own dialect. The first
 * issue decides the status. Any other error is a bug and becomes a 500 without details.
 */
export class Fault extends Error {
  readonly issues: readonly [Issue, ...Issue[]];
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Record<string, string>;

  constructor(issues: readonly [Issue, ...Issue[]], options: FaultOptions = {}) {
    super(options.logged ?? issues[0].msg, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Fault";
    this.issues = issues;
    this.retryable = options.retryable ?? errorTable[issues[0].type].retryable;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers ?? {};
  }

  get type(): ErrorType {
    return this.issues[0].type;
  }

  get status(): number {
    return errorTable[this.type].status;
  }

  /** The operator should see it: logged as an error. */
  get isServerError(): boolean {
    return this.status >= 500;
  }
}

export function fault(
  type: ErrorType,
  msg: string,
  options: FaultOptions & { loc?: Loc; ctx?: Record<string, unknown>; input?: unknown } = {},
): Fault {
  const { loc = ["body"], ctx, input, ...rest } = options;
  return new Fault([{ type, loc, msg, ...(ctx && { ctx }), ...(input !== undefined && { input }) }], rest);
}

/** A retry may succeed: the service, or a service that it depends on, is down or overloaded. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Fault && error.type === "service_unavailable";
}

/** Throws one fault with all issues, if there are any. */
export function throwIfAny(issues: readonly Issue[]): void {
  const [first, ...rest] = issues;
  if (first) throw new Fault([first, ...rest]);
}
