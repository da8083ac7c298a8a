import { createHash } from "node:crypto";
import type { StoredCall } from "../run.ts";
import { callKey } from "./tool-results.rules.ts";

/**
 * What an approval is bound to, as it is stored: `<hash of tool and arguments>.<hash of the target>`, the second part
 * where the tool tells what its calls reach.
 */
export function bindApproval(call: Pick<StoredCall, "tool" | "arguments">, target: string | undefined): string {
  const ofCall = hashOf(callKey(call.tool, call.arguments));
  return target === undefined ? ofCall : `${ofCall}.${hashOf(target)}`;
}

/** Why a call that was approved is not made after all: it is not the one that was asked about. */
export function mismatchOf(
  call: Pick<StoredCall, "tool" | "arguments" | "answerHash" | "shownTenant">,
  target: string | undefined,
): string | undefined {
  const [ofCall, ofTarget] = (call.answerHash ?? "").split(".");
  // Stored beside each other, so this can only be a mistake in the program; then nothing is done.
  if (ofCall !== bindApproval(call, undefined)) return "The arguments are not those that were approved.";
  // A question from before targets were bound tells the tenant that it showed, or nothing.
  const isSame = ofTarget === undefined ? (call.shownTenant ?? target) === target : ofTarget === hashOf(target ?? "");
  return isSame ? undefined : "What was approved is no longer what would be called, so the call was not made.";
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
