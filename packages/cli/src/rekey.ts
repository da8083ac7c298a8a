import { parseArgs } from "node:util";
import { loadTools, orSayWhy } from "./server-tools.ts";

export async function rekey(args: readonly string[]): Promise<number> {
  return orSayWhy(async () => {
    const { values } = parseArgs({ args: [...args], options: { "leave-unreadable": { type: "boolean" } } });
    const { tools, options } = await loadTools();
    const done = await tools.rekey({ ...options, leaveUnreadable: values["leave-unreadable"] ?? false });
    console.log(`${done.changed} texts are sealed anew${done.already > 0 ? `, ${done.already} were before` : ""}`);
    if (done.unreadable > 0) console.log(`${done.unreadable} could not be opened and are left as they were`);
    console.log(
      done.file === undefined
        ? "Give all servers the new key as GANTRY_SECRET_KEY before they start."
        : `The new key is in ${done.file}.`,
    );
    console.log("Backups made before this need the key of before: make a new one.");
    if (done.servers === 0) return 0;
    console.error(
      "A server was started meanwhile. It may have the key of before: stop it, run this again, then start it.",
    );
    return 1;
  });
}
