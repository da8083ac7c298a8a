import { type Config, readConfig, readSetting } from "../config/config.ts";
import { addressToCall } from "../config/own-address.rules.ts";

export { describeError } from "../kernel/describe-error.ts";

/** The entry of the `gantry` command. Engines are loaded by the commands that need them. */
export async function loadTools(
  environment: NodeJS.ProcessEnv,
  checkout: string,
): Promise<{ tools: typeof import("./operate.ts"); config: Config }> {
  const { trustExtraCa } = await import("../compose/trust-extra-ca.ts");
  const tools = await import("./operate.ts");
  const config = readConfig(environment, checkout);
  trustExtraCa(config.GANTRY_EXTRA_CA);
  return { tools, config };
}

/** Where a server with this environment listens. */
export function listeningUrl(environment: NodeJS.ProcessEnv): string {
  return addressToCall(readSetting(environment, "HOST"), readSetting(environment, "PORT"));
}

/** Starts the server, which reads its settings from the environment and ends the process itself. */
export async function serve(): Promise<void> {
  await import("../main.ts");
}
