import { parseArgs } from "node:util";
import { loadTools, orPrintError } from "./server-tools.ts";

export async function rekey(args: readonly string[]): Promise<number> {
  return orPrintError(async () => {
    const { values } = parseArgs({ args: [...args], options: { "leave-unreadable": { type: "boolean" } } });
    const { tools, options } = await loadTools();
    const done = await tools.rekey({ ...options, leaveUnreadable: values["leave-unreadable"] ?? false });
    console.log(`Re-encrypted ${done.changed} secrets${done.already > 0 ? `; ${done.already} had the new key` : ""}`);
    if (done.unreadable > 0) console.log(`${done.unreadable} could not be decrypted and are unchanged`);
    console.log(
      done.file === undefined
        ? "Set GANTRY_SECRET_KEY to the new key on all servers before you start them."
        : `The new key is in ${done.file}.`,
    );
    console.log("Older backups need the old key. Make a new backup.");
    if (done.servers === 0) return 0;
    console.error(
      "A server has started meanwhile and may use the old key. Stop it, run this command again, then start it.",
    );
    return 1;
  });
}
