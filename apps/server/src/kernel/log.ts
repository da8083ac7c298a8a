import { type Logger, pino } from "pino";

export type Log = Logger;

/** Structured logs on standard output. What could hold a secret is cut before it is written. */
export function createLog(level: string): Log {
  return pino({
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ["req.headers", "headers", "*.authorization", "*.key", "*.secret", "*.token", "*.password"],
      censor: "[hidden]",
    },
  });
}
