export interface OfferedSecret {
  runId: string;
  secretId: string;
  field: string;
}

const offer =
  /The whole value of (\S+)(?: \(it ends in .{4}\))? is shown once[^\n]*GET \/v1\/runs\/(\w+)\/secrets\/(\w+)\s*$/;

/** Finds the reference to a one-time secret at the end of a tool result. */
export function secretIn(result: string): OfferedSecret | undefined {
  const [, field, runId, secretId] = offer.exec(result) ?? [];
  return field && runId && secretId ? { runId, secretId, field } : undefined;
}
