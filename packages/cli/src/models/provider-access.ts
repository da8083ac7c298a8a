import { createClient, type Providers, type Secrets } from "@gantry/sdk";
import { orPrintError, setting, target } from "../server-tools.ts";

/** Options of every command about providers. Keys are not among them: arguments are visible to other users. */
export const accessOptions = {
  server: { type: "string" },
  everyone: { type: "boolean" },
  json: { type: "boolean" },
} as const;

export interface AccessValues {
  server?: string | undefined;
  everyone?: boolean | undefined;
  json?: boolean | undefined;
}

export interface ProviderAccess {
  providers: Providers;
  secrets: Secrets;
}

/** The caller's providers, or with `--everyone` the operator's. */
export async function providerAccess({ server, everyone }: AccessValues): Promise<ProviderAccess> {
  const client = createClient(await target({ url: server, key: setting("GANTRY_KEY") }));
  return everyone
    ? { providers: client.admin.providers, secrets: client.admin.secrets }
    : { providers: client.providers, secrets: client.secrets };
}

/** Asks the server, and prints a failure in one line. */
export const asking = (work: () => Promise<number>): Promise<number> =>
  orPrintError(work, 1, "Set it with GANTRY_KEY.");

/** Wrong arguments, for which no server was asked. */
export const notAsked = 2;

export const printJson = (value: unknown): void => console.log(JSON.stringify(value, null, 2));
