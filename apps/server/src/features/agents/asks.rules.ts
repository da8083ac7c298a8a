import type { ToolBinding } from "@gantry/wire";
import { asToolBinding } from "./binding.rules.ts";
import type { ToolInfo } from "./tools.ts";

/** The tools beside the writes to the identity tenant that ask where their binding says nothing. */
const askingTools: readonly string[] = ["drive_delete"];

/**
 * Whether a call of a bound tool waits for the caller's confirmation. A write to the identity tenant always does, also
 * where an old binding says `never`: only the caller of a run can waive that.
 */
export function bindingAsks(binding: string | ToolBinding, info: Pick<ToolInfo, "id" | "kind">): boolean {
  const isTenantWrite = info.kind === "write" && info.id.startsWith("idp_");
  switch (asToolBinding(binding).confirm) {
    case "always":
      return true;
    case "writes":
      return info.kind === "write";
    case "never":
      return isTenantWrite;
    default:
      return isTenantWrite || askingTools.includes(info.id);
  }
}
