import type { Providers, Secrets } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";

export interface ProviderAccess {
  providers: Providers;
  secrets: Secrets;
}

/** The caller's providers, or with `--everyone` the operator's. */
export async function providerAccess({ client: connect, flag }: Context): Promise<ProviderAccess> {
  const client = await connect();
  return flag("everyone")
    ? { providers: client.admin.providers, secrets: client.admin.secrets }
    : { providers: client.providers, secrets: client.secrets };
}
