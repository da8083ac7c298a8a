import { fileURLToPath } from "node:url";
import { GantryError } from "@gantry/sdk";
import type { OperateOptions } from "../../../apps/server/src/operate/operate.ts";

const checkout = fileURLToPath(new URL("../../..", import.meta.url));

/** What works on an installation itself, with the server's own settings. Loaded only by the commands that need it. */
export async function loadTools(): Promise<{
  tools: typeof import("../../../apps/server/src/operate/operate.ts");
  options: OperateOptions;
}> {
  const { readConfig } = await import("../../../apps/server/src/config/config.ts");
  const { trustExtraCa } = await import("../../../apps/server/src/compose/trust-extra-ca.ts");
  const tools = await import("../../../apps/server/src/operate/operate.ts");
  const config = readConfig(process.env, checkout);
  trustExtraCa(config.GANTRY_EXTRA_CA);
  const say = (text: string): void => console.error(text);
  return { tools, options: { config, say } };
}

/** A failure in one line: for people a stack is noise. `failed` is its exit code. */
export async function orSayWhy(work: () => Promise<number>, failed = 1): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const { describeError } = await import("../../../apps/server/src/kernel/describe-error.ts");
    console.error(isRefusedKey(error) ? refusedKey : describeError(error));
    return failed;
  }
}

/** The server speaks of the header that a key travels in, which nobody sees here. */
const refusedKey = "The server takes no such key, or none was given: give one with --key or GANTRY_KEY";

function isRefusedKey(error: unknown): boolean {
  return error instanceof GantryError && error.status === 401;
}

/** Each unit is 1024 of the one before. */
export function sizeOf(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
