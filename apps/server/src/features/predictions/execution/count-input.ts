import { backendsOf, type ListedBackend } from "@gantry/wire";
import type { ChatDriver, NativeRequest } from "../../../engines/models/chat.ts";
import type { ModelDriver } from "../../../engines/models/driver.ts";
import { failoverOf } from "../../../engines/models/failover.ts";
import { nativeSize } from "../../../engines/models/native-size.ts";
import { Fault } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import { tokensOfImage } from "../admission/reserve.ts";
import type { RunDeps } from "./run-prediction.ts";

export interface CountRequest {
  caller: Caller;
  /** Undefined for an agent, whose models count for themselves. */
  model: Model | undefined;
  native: Pick<NativeRequest, "protocol" | "body" | "headers">;
  signal: AbortSignal;
}

/** Answers of servers that speak a protocol but do not count tokens. */
const unknownRoute: ReadonlySet<unknown> = new Set([404, 405, 501]);

/**
 * The input tokens of a request to a chat protocol, counted by the first of the model's backends that can. No prediction.
 * Backends with an open circuit are not asked.
 */
export async function countInput(
  deps: Pick<RunDeps, "driverOf" | "estimateTokens" | "backends">,
  { caller, model, native, signal }: CountRequest,
): Promise<number> {
  const listed = model ? backendsOf(model.manifest).toSorted((a, b) => a.priority - b.priority) : [];
  const usable = listed.filter(({ name }) => !deps.backends.isOpen(model?.id ?? "", name));
  let failure: unknown;
  for (const backend of usable) {
    try {
      const counted = model && (await countAt(deps, model, backend, { caller, native, signal }));
      if (counted !== undefined) return counted;
    } catch (error) {
      failure ??= error;
      if (signal.aborted || failoverOf(error, { runsOnce: false }) === undefined) break;
    }
  }
  if (failure !== undefined) throw failure;
  const { text, images } = nativeSize(native.body);
  return (await deps.estimateTokens(text)) + images * tokensOfImage;
}

/** Undefined if the backend cannot count. */
async function countAt(
  { driverOf }: Pick<RunDeps, "driverOf">,
  model: Model,
  backend: ListedBackend,
  { caller, native, signal }: Omit<CountRequest, "model">,
): Promise<number | undefined> {
  const driver: ModelDriver & Partial<ChatDriver> = await driverOf(model, backend, caller.userId);
  if (driver.protocol !== native.protocol || !driver.countTokens) return undefined;
  try {
    return await driver.countTokens(native, signal);
  } catch (error) {
    if (isUnknownRoute(error)) return undefined;
    throw error;
  }
}

function isUnknownRoute(error: unknown): boolean {
  const cause = error instanceof Fault ? error.cause : undefined;
  return cause instanceof Error && "status" in cause && unknownRoute.has(cause.status);
}
