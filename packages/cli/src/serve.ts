import { fileURLToPath } from "node:url";

/** The server reads its settings from the environment and ends the process itself. */
export async function serve(): Promise<number> {
  await import(fileURLToPath(new URL("../../../apps/server/src/main.ts", import.meta.url)));
  return new Promise<number>(() => {});
}
