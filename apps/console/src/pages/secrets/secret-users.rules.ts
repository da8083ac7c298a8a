import type { ModelCard } from "@gantry/sdk";

/** Models of the owner by the name of their secret. */
export function modelsBySecret(models: readonly ModelCard[], owner: string): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const { owner: modelOwner, endpoint_id, backend } of models) {
    // Admins also see backends of other users, which use secrets of these users.
    if (modelOwner !== owner || !backend?.secret) continue;
    users.set(backend.secret, [...(users.get(backend.secret) ?? []), endpoint_id]);
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
