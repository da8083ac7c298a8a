import { type DestinationStream, type Logger, pino } from "pino";

export type Log = Logger;

const longestMessage = 1000;
const longestStack = 4000;
const mostCauses = 5;

/**
 * Structured logs, on standard output unless told otherwise. What could hold a secret is cut before it is written, and
 * of an error only what our own code or a library says of it: what else hangs on one may quote what somebody sent.
 */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: toLoggedError },
    redact: {
      paths: [
        "req.headers",
        "headers",
        "*.authorization",
        "*.cookie",
        '*["set-cookie"]',
        "*.key",
        "*.secret",
        "*.token",
        "*.password",
      ],
      censor: "[hidden]",
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** An allow list: name, message, stack, and the few plain values by which a failure is looked up elsewhere. */
export function toLoggedError(thrown: unknown, depth = 0): Record<string, unknown> {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: String(thrown).slice(0, longestMessage) };
  const { code, status, requestId } = thrown as Error & Record<string, unknown>;
  return {
    type: thrown.name,
    message: thrown.message.slice(0, longestMessage),
    stack: thrown.stack?.slice(0, longestStack),
    ...(isPlain(code) && { code }),
    ...(isPlain(status) && { status }),
    ...(isPlain(requestId) && { request_id: requestId }),
    ...(thrown.cause !== undefined && depth < mostCauses && { cause: toLoggedError(thrown.cause, depth + 1) }),
    ...(thrown instanceof AggregateError &&
      depth < mostCauses && { errors: thrown.errors.slice(0, mostCauses).map((one) => toLoggedError(one, depth + 1)) }),
  };
}

function isPlain(value: unknown): boolean {
  return typeof value === "number" || (typeof value === "string" && /^[\w.:-]{1,64}$/.test(value));
}
