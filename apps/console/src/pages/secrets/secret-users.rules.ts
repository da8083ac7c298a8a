import type { ModelCard } from "@gantry/sdk";

/** Which of the owner's models send which secret, by its name. */
export function modelsBySecret(models: readonly ModelCard[], owner: string): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const { owner: whose, endpoint_id, backend } of models) {
    // An admin sees the backends of others too, and these name secrets of others.
    if (whose !== owner || !backend?.secret) continue;
    users.set(backend.secret, [...(users.get(backend.secret) ?? []), endpoint_id]);
  }
  return users;
}

/** What a deleted secret takes along, said before it is. */
export function lossWithout(models: readonly string[] | undefined): string {
  if (models === undefined) return "Models that name it fail until one of that name is stored again.";
  if (models.length === 0) return "None of your models names it.";
  return `${listed(models)} ${models.length === 1 ? "fails" : "fail"} until one of that name is stored again.`;
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length === 1 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
