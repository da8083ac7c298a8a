import { fault } from "../../../kernel/errors.ts";
import type { IdpContext } from "./context.ts";
import { previewWrite } from "./preview-write.ts";
import { type ActionOutcome, type Arguments, actionOrThrow, runAction } from "./run-action.ts";

/** A direct call: a write that is not confirmed is answered with what it would do. */
export async function callAction(
  context: IdpContext,
  userId: string,
  name: string,
  call: { arguments: Arguments; confirm: boolean; signal?: AbortSignal },
): Promise<ActionOutcome> {
  const action = actionOrThrow(name);
  if (action.kind === "write" && !call.confirm) {
    const preview = await previewWrite(context, userId, name, call.arguments, call.signal);
    throw fault("confirmation_required", `${name} changes the tenant: repeat it with confirm: true to do it`, {
      ctx: { ...preview },
    });
  }
  return runAction(context, userId, name, call.arguments, call.signal);
}
