import type { AgentMemory } from "@gantry/wire";
import { Fault, type Issue } from "../../kernel/errors.ts";
import { filePath } from "../drives/index.ts";
import type { References, SnapshotFindings } from "./references.ts";

/** The drive must belong to the agent's owner. The file itself need not exist. */
export async function checkMemory(
  references: Pick<References, "drives">,
  { drive, path }: AgentMemory,
): Promise<SnapshotFindings> {
  const issues: Issue[] = [];
  if (!(await references.drives([drive])).has(drive)) {
    issues.push({ type: "value_error", loc: ["body", "memory", "drive"], msg: `Drive ${drive} does not exist` });
  }
  try {
    filePath(path, ["body", "memory", "path"]);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    issues.push(...error.issues);
  }
  return { issues, warnings: [] };
}
