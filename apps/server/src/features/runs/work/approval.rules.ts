import { createHash } from "node:crypto";
import type { StoredCall } from "../run.ts";
import { callKey } from "./tool-results.rules.ts";

/** What an approval is valid for: `<hash of tool and arguments>.<hash of the target>`, the second if there is a target. */
export function bindApproval(call: Pick<StoredCall, "tool" | "arguments">, target: string | undefined): string {
  const ofCall = hashOf(callKey(call.tool, call.arguments));
  return target === undefined ? ofCall : `${ofCall}.${hashOf(target)}`;
}

/** Why an approved call is not made: it differs from the one that was confirmed. */
export function mismatchOf(
  call: Pick<StoredCall, "tool" | "arguments" | "answerHash" | "shownTenant">,
  target: string | undefined,
): string | undefined {
  const [ofCall, ofTarget] = (call.answerHash ?? "").split(".");
  // Call and hash are stored together, so a difference is a bug.
  if (ofCall !== bindApproval(call, undefined)) return "The arguments are not those that were approved.";
  // Older confirmations have no target, only the tenant that they showed.
  const isSame = ofTarget === undefined ? (call.shownTenant ?? target) === target : ofTarget === hashOf(target ?? "");
  return isSame ? undefined : "The target of the call has changed since it was approved, so the call was not made.";
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
