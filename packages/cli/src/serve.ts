import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { orSayWhy } from "./server-tools.ts";

/** The server reads its settings from the environment and ends the process itself. */
export function serve(args: readonly string[]): Promise<number> {
  return orSayWhy(async () => {
    parseArgs({ args: [...args], options: {} });
    await import(fileURLToPath(new URL("../../../apps/server/src/main.ts", import.meta.url)));
    return new Promise<number>(() => {});
  });
}
