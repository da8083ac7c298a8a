import type { Api, OperationRow } from "./operation.ts";

/** Every route may answer these. */
const always = [401, 500, 503];

/** The failure statuses of an operation: derived from its row, and those that it names. */
export function usualFailures(
  api: Pick<Api, "invalid">,
  operation: OperationRow,
  ofGroup: readonly number[] = [],
): number[] {
  const { path, body, query, headers, also, fails = [], invalid = api.invalid } = operation;
  const found = new Set([...always, ...ofGroup, ...fails]);
  if (body || query || headers?.length) found.add(invalid);
  // An operation that creates what is missing does not answer 404.
  if (path.includes("{") && !also?.includes(201)) found.add(404);
  if (headers?.includes("Idempotency-Key")) found.add(422);
  if (headers?.includes("If-Match")) found.add(412);
  if (body === "file" || body === "upload") for (const status of [413, 507]) found.add(status);
  return [...found].sort((one, other) => one - other);
}
