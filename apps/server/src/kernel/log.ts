import { type DestinationStream, type Logger, pino } from "pino";

export type Log = Logger;

const longestMessage = 1000;
const longestStack = 4000;
const mostCauses = 5;

/** Structured logs. Fields that may contain secrets are hidden; see `toLoggedError` for errors. */
export function createLog(level: string, destination?: DestinationStream, fields?: Record<string, unknown>): Log {
  const options = {
    level,
    base: fields,
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

/** An allow list: other properties of an error may quote what a client sent. */
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
