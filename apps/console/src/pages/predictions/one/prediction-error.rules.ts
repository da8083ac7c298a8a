import { GantryError, type PredictionRecord } from "@gantry/sdk";

type Failed = Pick<PredictionRecord, "id" | "status" | "status_code" | "error" | "request_id">;

/** The stored failure as the call would have thrown it, with the id of the request that failed. */
export function errorOf({ id, status, status_code, error, request_id }: Failed): GantryError | undefined {
  if (status !== "failed" || error === null || error.length === 0) return undefined;
  const issues = error.map(({ type, msg, loc = [], ...more }) => ({
    loc: loc.filter((part) => typeof part === "string" || typeof part === "number"),
    message: msg,
    type,
    ...(isContext(more.ctx) && { ctx: more.ctx }),
  }));
  return new GantryError({
    status: status_code ?? 500,
    type: issues[0]?.type,
    message: issues[0]?.message ?? "",
    // The console offers to open the input in the playground instead.
    retryable: false,
    requestId: request_id ?? undefined,
    body: undefined,
    issues,
    predictionId: id,
  });
}

const isContext = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
