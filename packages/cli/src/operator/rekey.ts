import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import type { Output } from "../frame/output.ts";
import { type Tools, withTools } from "../server-tools.ts";

export function rekey({ flag, out }: Context): Promise<number> {
  return withTools(async (tools, options) => {
    const done = await tools.rekey({ ...options, leaveUnreadable: flag("leave-unreadable") });
    if (flag("json")) out.json(done);
    else printDone(out, done);
    if (done.servers === 0) return exitCodes.done;
    out.note("A server has started meanwhile and may use the old key. Stop it, run this command again, then start it.");
    return exitCodes.failed;
  });
}

function printDone(out: Output, done: Awaited<ReturnType<Tools["rekey"]>>): void {
  out.line(`Re-encrypted ${done.changed} secrets${done.already > 0 ? `; ${done.already} had the new key` : ""}`);
  if (done.unreadable > 0) out.line(`${done.unreadable} could not be decrypted and are unchanged`);
  out.line(
    done.file === undefined
      ? "Set GANTRY_SECRET_KEY to the new key on all servers before you start them."
      : `The new key is in ${done.file}.`,
  );
  out.line("Older backups need the old key. Make a new backup.");
}
