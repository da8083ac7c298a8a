import { type ErrorType, errorTable } from "@gantry/wire";

export type Loc = readonly (string | number)[];

/** One thing that is wrong, as a client reads it. `msg` is public; whatever must stay inside goes into `cause`. */
export interface Issue {
  type: ErrorType;
  loc: Loc;
  msg: string;
  ctx?: Record<string, unknown>;
  input?: unknown;
}

interface FaultOptions {
  /** What really happened: logged, never sent. */
  cause?: unknown;
  /** For the log in place of what is told, where that may quote what must not stand there. */
  logged?: string;
  /** Overrides the table's default where the thrower knows better. */
  retryable?: boolean;
  retryAfterSeconds?: number;
  /** Response headers that belong to the refusal, e.g. the rate-limit figures. */
  headers?: Record<string, string>;
}

/**
 * The one error that features and engines throw on purpose. It says what is wrong; each HTTP surface writes it in its
 * own dialect. The first issue decides the status. Anything else that is thrown is a bug and becomes a bare 500.
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

  /** Whether whoever runs the server should know of it: the log has it as an error. */
  get isOperatorsMatter(): boolean {
    return this.status >= 500;
  }
}

/** A fault with one issue about the whole request. */
export function fault(
  type: ErrorType,
  msg: string,
  options: FaultOptions & { loc?: Loc; ctx?: Record<string, unknown>; input?: unknown } = {},
): Fault {
  const { loc = ["body"], ctx, input, ...rest } = options;
  return new Fault([{ type, loc, msg, ...(ctx && { ctx }), ...(input !== undefined && { input }) }], rest);
}

/** The service, or something it depends on, is unavailable for the moment: a retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Fault && error.type === "service_unavailable";
}

/** Throws one fault holding all issues, or nothing when there are none. */
export function throwIfAny(issues: readonly Issue[]): void {
  const [first, ...rest] = issues;
  if (first) throw new Fault([first, ...rest]);
}
