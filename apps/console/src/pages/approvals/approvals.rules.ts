import type { InboxConfirmation } from "@gantry/sdk";

type Asked = Pick<InboxConfirmation, "id" | "tool" | "agent" | "root_agent">;

/** Questions that were not there before. The first read announces none: they may be old. */
export function newlyAsked<T extends { id: string }>(before: readonly T[] | undefined, now: readonly T[]): T[] {
  if (before === undefined) return [];
  const known = new Set(before.map(({ id }) => id));
  return now.filter(({ id }) => !known.has(id));
}

export function announcement(asked: readonly Asked[]): { title: string; body: string } | undefined {
  const [first, ...others] = asked;
  if (!first) return undefined;
  const body = `${first.agent.name} wants to call ${first.tool}.`;
  if (others.length === 0) return { title: "Approval needed", body };
  return { title: `${asked.length} approvals needed`, body: `${body} ${others.length} more.` };
}

/** The sub-agent that asked, if it was not the agent that you started. */
export const subAgentOf = ({ agent, root_agent }: Asked): string | undefined =>
  agent.id === root_agent.id ? undefined : agent.name;
