import type { Api, OperationRow } from "./operation.ts";

/** What every route may answer: the key is looked at first, and an engine may be away. */
const always = [401, 500, 503];

/** The failures of an operation, by the status: those that follow from its form, and those that it names itself. */
export function usualFailures(
  api: Pick<Api, "invalid">,
  operation: OperationRow,
  ofGroup: readonly number[] = [],
): number[] {
  const { path, body, query, headers, also, fails = [], invalid = api.invalid } = operation;
  const found = new Set([...always, ...ofGroup, ...fails]);
  if (body || query || headers?.length) found.add(invalid);
  // What makes a thing where there is none does not miss it.
  if (path.includes("{") && !also?.includes(201)) found.add(404);
  if (headers?.includes("Idempotency-Key")) found.add(422);
  if (headers?.includes("If-Match")) found.add(412);
  if (body === "file" || body === "upload") for (const status of [413, 507]) found.add(status);
  return [...found].sort((one, other) => one - other);
}
