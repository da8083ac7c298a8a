/** The id of the trace in a stored `traceparent`; undefined if the trace is not recorded. */
export function recordedTrace(traceparent: string | null): string | undefined {
  const [, traceId, flags = "0"] =
    /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})/.exec(traceparent ?? "") ?? [];
  return Number.parseInt(flags, 16) & 1 ? traceId : undefined;
}
