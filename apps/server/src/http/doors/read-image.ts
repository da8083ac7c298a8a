import type { FastifyReply } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import type { ReadImage } from "../../features/predictions/index.ts";
import { holdMemory } from "./body-memory.ts";
import type { DoorDeps } from "./deps.ts";

/** Reads the images of a request, which share the memory of large bodies. */
export function imageReaderFor(
  { predictions, bodies }: Pick<DoorDeps, "predictions" | "bodies">,
  { caller, reply, signal }: { caller: Caller; reply: FastifyReply; signal: AbortSignal },
): ReadImage {
  const takeMemory = (bytes: number) => void holdMemory(bodies, caller.userId, reply, bytes);
  return predictions.imageReader({ caller, signal, takeMemory });
}
