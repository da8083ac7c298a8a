import type { AgentCard, AgentRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { count, money } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import type { Column } from "../frame/table.rules.ts";
import { isOwn } from "./find-agent.ts";

type Agent = AgentRecord | AgentCard;

export async function listAgents(context: Context): Promise<number> {
  const client = await context.client();
  const q = context.text("search");
  if (context.flag("public") || q !== undefined) {
    const columns: Column<Agent>[] = [
      { title: "agent", value: ({ owner, slug }) => `${owner}/${slug}` },
      { title: "price", value: priceOf, align: "right" },
      { title: "runs", value: ({ activity }) => count(activity.runs), align: "right" },
      { title: "description", value: ({ name, description }) => description ?? name },
    ];
    return printList(context, client.marketplace.each({ q }), columns, "No public agents found.");
  }
  const columns: Column<Agent>[] = [
    { title: "agent", value: ({ slug }) => slug },
    { title: "name", value: ({ name }) => name },
    { title: "status", value: statusOf },
    { title: "model", value: (agent) => (isOwn(agent) ? agent.model : "") },
    { title: "runs", value: ({ activity }) => count(activity.runs), align: "right" },
    { title: "id", value: ({ id }) => id },
  ];
  const empty = "You have no agents. gantry agents templates shows how to begin.";
  return printList(context, client.agents.each(), columns, empty);
}

/** Runs use the published revision, so a newer draft matters. */
export function statusOf(agent: Agent): string {
  const parts = [agent.status as string];
  if (isOwn(agent)) {
    const { published_revision_id: published, latest_revision_id: latest, taken_down } = agent;
    if (published !== null && published !== latest) parts.push("newer draft");
    if (taken_down) parts.push("taken down");
  }
  if (agent.visibility === "public") parts.push("public");
  return parts.join(", ");
}

export const priceOf = ({ pricing }: Agent): string => (pricing.per_run === 0 ? "free" : money(pricing.per_run));
