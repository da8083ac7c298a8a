import type { AgentRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import { ago } from "../frame/format.rules.ts";
import { findAgent, isOwn } from "./find-agent.ts";
import { priceOf, statusOf } from "./list.ts";

export async function showAgent(context: Context): Promise<number> {
  const { out } = context;
  const [text = ""] = context.words;
  const agent = await findAgent(await context.client(), text);
  if (context.flag("json")) {
    out.json(agent);
    return exitCodes.done;
  }
  const own = isOwn(agent) ? agent : undefined;
  const { runs, succeeded, failed, last_run_at } = agent.activity;
  out.details([
    ["Agent", `${agent.owner}/${agent.slug}`],
    ["Id", agent.id],
    ["Name", agent.name],
    ["Description", agent.description],
    ["Status", statusOf(agent)],
    ["Model", own?.model ?? ("models" in agent ? agent.models.map(({ model }) => model).join(", ") : undefined)],
    ["Price", `${priceOf(agent)}${agent.pricing.per_run === 0 ? "" : " a run, for other users"}`],
    ["Goal", own?.goal],
    ["Tools", own?.tools.map(toolText).join(", ")],
    ["Drives", own?.drives.join(", ")],
    ["Tool servers", own?.mcp_servers.map(({ id }) => id).join(", ")],
    ["Memory", own?.memory && `${own.memory.path} on ${own.memory.drive}`],
    ["Input", inputText(agent.input_schema)],
    [
      "Runs",
      `${runs} in 30 days, ${succeeded} done, ${failed} failed${last_run_at ? `, last ${ago(last_run_at)}` : ""}`,
    ],
    ["Taken down", own?.taken_down && JSON.stringify(own.taken_down)],
  ]);
  printWarnings(context, own?.warnings ?? []);
  return exitCodes.done;
}

export function printWarnings({ out }: Context, warnings: AgentRecord["warnings"]): void {
  for (const { field, message } of warnings) out.note(`Warning: ${field}: ${message}`);
}

function toolText(tool: AgentRecord["tools"][number]): string {
  if (typeof tool === "string") return tool;
  if (tool.type === "agent") return `agent ${tool.agent_id}`;
  return tool.confirm === undefined ? tool.id : `${tool.id} (confirm ${tool.confirm})`;
}

/** One line for each field, such as `city: string, required`. */
function inputText(schema: Readonly<Record<string, unknown>>): string {
  const properties = schema.properties as Record<string, { type?: unknown; description?: unknown }> | undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties ?? {})
    .map(([name, property]) => {
      const facts = [property?.type ?? "any", required.includes(name) ? "required" : undefined, property?.description];
      return `${name}: ${facts.filter((fact) => fact !== undefined).join(", ")}`;
    })
    .join("\n");
}
