import { backendsOf } from "@gantry/wire";
import type { ChatDriver, NativeRequest } from "../../../engines/models/chat.ts";
import type { ModelDriver } from "../../../engines/models/driver.ts";
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

/** The input tokens of a request to a chat protocol, counted by the model's backend if it can. No prediction. */
export async function countInput(
  { driverOf, estimateTokens }: Pick<RunDeps, "driverOf" | "estimateTokens">,
  { caller, model, native, signal }: CountRequest,
): Promise<number> {
  const driver: Partial<ModelDriver & ChatDriver> = model
    ? await driverOf(model, backendsOf(model.manifest)[0], caller.userId)
    : {};
  if (driver.protocol === native.protocol && driver.countTokens) {
    try {
      return await driver.countTokens(native, signal);
    } catch (error) {
      if (!isUnknownRoute(error)) throw error;
    }
  }
  const { text, images } = nativeSize(native.body);
  return (await estimateTokens(text)) + images * tokensOfImage;
}

function isUnknownRoute(error: unknown): boolean {
  const cause = error instanceof Fault ? error.cause : undefined;
  return cause instanceof Error && "status" in cause && unknownRoute.has(cause.status);
}
