import { type Manifest, promptedBackends } from "@gantry/wire";

/**
 * Whether an agent can work with a model: whether its backend takes messages and tools. The others take an input and give
 * an output, which no agent can work with; of those inside the server one talks.
 */
export function holdsConversations({ backend: { type, model } }: Pick<Manifest, "backend">): boolean {
  return type === "builtin" ? model === "rules" : promptedBackends.has(type);
}
