import { type Config, readConfig } from "../config/config.ts";
import { baseFolder } from "../config/own-folder.ts";

export { describeError } from "../kernel/describe-error.ts";

/** The entry of the `gantry` command. Engines are loaded by the commands that need them. */
export async function loadTools(
  environment: NodeJS.ProcessEnv,
): Promise<{ tools: typeof import("./operate.ts"); config: Config }> {
  const { trustExtraCa } = await import("../compose/trust-extra-ca.ts");
  const tools = await import("./operate.ts");
  const config = readConfig(environment, baseFolder);
  trustExtraCa(config.GANTRY_EXTRA_CA);
  return { tools, config };
}

/** Starts the server, which reads its settings from the environment and ends the process itself. */
export async function serve(): Promise<void> {
  await import("../main.ts");
}
