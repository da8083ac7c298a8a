import type { BackendConfig, ModelCard } from "@gantry/sdk";

const reference = /\{\{\s*secret:\s*([\w.-]+)\s*\}\}/g;

/** The key of a backend, and secrets in its headers and query. */
function secretsOf({ secret, headers = {}, query = {} }: BackendConfig): string[] {
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

export function effectOfDeletion(models: readonly string[] | undefined): string {
  if (models === undefined) return "Models that use this secret fail until you save it again.";
  if (models.length === 0) return "None of your models uses this secret.";
  return `${listed(models)} ${models.length === 1 ? "fails" : "fail"} until you save this secret again.`;
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length === 1 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
