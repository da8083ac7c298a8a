import type { BackendConfig, ModelCard, ProviderRecord } from "@gantry/sdk";

const reference = /\{\{\s*secret:\s*([\w.-]+)\s*\}\}/g;

/** The key of a backend or provider, and secrets in its headers and query. */
function secretsOf({
  secret,
  headers = {},
  query = {},
}: Pick<BackendConfig, "headers" | "query"> & { secret?: string | null }): string[] {
  const texts = [...Object.values(headers), ...Object.values(query)];
  const named = texts.flatMap((text) => [...text.matchAll(reference)].map(([, name = ""]) => name));
  return secret ? [secret, ...named] : named;
}

/** Models of the owner by the names of their secrets. */
export function modelsBySecret(models: readonly ModelCard[], owner: string): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const { owner: modelOwner, endpoint_id, backend, backends = [] } of models) {
    // Admins also see backends of other users, which use secrets of these users.
    if (modelOwner !== owner) continue;
    const names = [...backends, ...(backend ? [backend] : [])].flatMap(secretsOf);
    for (const name of new Set(names)) users.set(name, [...(users.get(name) ?? []), endpoint_id]);
  }
  return users;
}

/** Names of the owner's providers by the names of their secrets. */
export function providersBySecret(providers: readonly ProviderRecord[], owner: string): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const provider of providers) {
    if (provider.owner !== owner) continue;
    for (const secret of new Set(secretsOf(provider))) {
      users.set(secret, [...(users.get(secret) ?? []), provider.name]);
    }
  }
  return users;
}

export interface SecretUses {
  /** Endpoint ids. */
  models: readonly string[];
  /** Names. */
  providers: readonly string[];
}

export function effectOfDeletion(uses: SecretUses | undefined): string {
  if (uses === undefined) return "Models that use this secret fail until you save it again.";
  const users = [...uses.models, ...uses.providers.map((name) => `provider ${name}`)];
  if (users.length === 0) return "None of your models and providers use this secret.";
  return `${listed(users)} ${users.length === 1 ? "fails" : "fail"} until you save this secret again.`;
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length === 1 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
