import type { BackendType, Manifest } from "@gantry/wire";

/** Which backends take messages and tools; the others take an input and give an output, which no agent can work with. */
const talks: Readonly<Record<BackendType, boolean>> = {
  builtin: true,
  "openai-chat": true,
  anthropic: true,
  google: true,
  "openai-images": false,
  "ark-images": false,
  cog: false,
  gantry: false,
};

/** Whether an agent can work with a model; of those inside the server one can. */
export function holdsConversations({ backend: { type, model } }: Pick<Manifest, "backend">): boolean {
  if (type === "builtin") return model === "rules";
  return Object.hasOwn(talks, type) && talks[type as BackendType];
}
