/** A setting as the server reads it too: blanks and line breaks around a value do not count, and an empty one is none. */
export function setting(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}

/** Where `gantry serve` listens in the same environment. */
export async function listeningUrl(): Promise<string> {
  const { readSetting } = await import("../../../apps/server/src/config/config.ts");
  const { addressToCall } = await import("../../../apps/server/src/config/own-address.rules.ts");
  return addressToCall(readSetting(process.env, "HOST"), readSetting(process.env, "PORT"));
}
