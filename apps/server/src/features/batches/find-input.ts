import { Fault } from "../../kernel/errors.ts";
import type { Scope } from "../accounts/index.ts";
import type { ProtocolFile, ProtocolFiles } from "../files/index.ts";

/** Undefined if the file was deleted. Rejects if that is not known, because a batch without its file ends. */
export async function findInput(
  files: Pick<ProtocolFiles, "find">,
  scope: Scope,
  id: string,
): Promise<ProtocolFile | undefined> {
  return files.find(scope, id).catch((error: unknown) => {
    if (error instanceof Fault && error.type === "not_found") return undefined;
    throw error;
  });
}
