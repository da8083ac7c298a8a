import { fileURLToPath } from "node:url";
import { GantryError } from "@gantry/sdk";

/** Loaded by the commands that need it: the server is large. */
export const loadServer = () => import("@gantry/server/operate");

const checkout = fileURLToPath(new URL("../../..", import.meta.url));

/** Tools that work on an installation directly, with the settings of the server. */
export async function loadTools() {
  const { tools, config } = await (await loadServer()).loadTools(process.env, checkout);
  return { tools, options: { config, say: (text: string): void => console.error(text) } };
}

/** Prints a failure in one line, without a stack. `failed` is its exit code, `refused` the advice after a 401. */
export async function orPrintError(
  work: () => Promise<number>,
  failed = 1,
  refused = "Set it with --key or GANTRY_KEY.",
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const isKeyRefused = error instanceof GantryError && error.status === 401;
    console.error(isKeyRefused ? `${keyRefused} ${refused}` : (await loadServer()).describeError(error));
    return failed;
  }
}

/** The server's own message names a header that the user of a command never sees. */
const keyRefused = "The API key is missing or invalid.";

/** Trims as the server does; an empty setting counts as unset. */
export function setting(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}

/** The address of the server to call, and the key to call it with. */
export async function target({ url, key }: { url?: string | undefined; key?: string | undefined }) {
  return {
    url: url ?? setting("GANTRY_URL") ?? (await loadServer()).listeningUrl(process.env),
    key: key ?? setting("GANTRY_KEY"),
  };
}

/** Units are powers of 1024. */
export function sizeOf(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
