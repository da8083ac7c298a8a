import type { ListedBackend } from "@gantry/wire";

/** By priority, and within a priority in a random order in which a backend comes first by its share of the weights. */
export function inRandomOrder(backends: readonly ListedBackend[], random: () => number = Math.random): ListedBackend[] {
  const placed = backends.map((backend) => ({ backend, at: -Math.log(1 - random()) / backend.weight }));
  placed.sort((a, b) => a.backend.priority - b.backend.priority || a.at - b.at);
  return placed.map(({ backend }) => backend);
}

/** Backends that make files: a call that one of them has begun must not run again at another one. */
const textTypes: ReadonlySet<string> = new Set(["builtin", "openai-chat", "anthropic", "google", "openai-embeddings"]);

export function runsOnce({ type }: Pick<ListedBackend, "type">): boolean {
  return !textTypes.has(type);
}
