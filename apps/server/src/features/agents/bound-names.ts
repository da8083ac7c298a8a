import { isAgentBinding } from "./binding.rules.ts";
import { findCallable } from "./binding-store.ts";
import type { AgentsContext } from "./context.ts";
import type { Runnable } from "./get-runnable.ts";

/** What the agents go by that an agent has as tools, as far as they are there. */
export async function boundNames(
  { database }: AgentsContext,
  { agent, revision }: Pick<Runnable, "agent" | "revision">,
): Promise<string[]> {
  const bindings = revision.snapshot.tools.filter(isAgentBinding);
  const ids = bindings.map(({ agent_id }) => agent_id);
  const slugs = new Map((await findCallable(database.sql, agent.ownerId, ids)).map(({ id, slug }) => [id, slug]));
  return bindings.flatMap(({ name, agent_id }) => name ?? slugs.get(agent_id) ?? []);
}
