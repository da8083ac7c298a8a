import { type Caller, isConfined } from "../accounts/index.ts";
import type { Run } from "./run.ts";

/**
 * Whether a reader sees how the agent of a run works. Its creator does; an application with a key that is limited to
 * models does not.
 */
export function seesAgent(
  { ownerId, userId }: Pick<Run, "ownerId" | "userId">,
  reader: Pick<Caller, "models">,
): boolean {
  return ownerId === userId && !isConfined(reader);
}
