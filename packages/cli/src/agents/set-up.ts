import { existsSync } from "node:fs";
import type { AgentSetup, NewAgent } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { closest } from "../frame/distance.rules.ts";
import { exitCodes, wrongArguments } from "../frame/failure.ts";
import { readJsonObject } from "../shared/read-json.ts";
import { printWarnings } from "./show.ts";
import { type Template, templates } from "./templates.ts";

export async function listTemplates(context: Context): Promise<number> {
  const { out } = context;
  if (context.flag("json")) out.json(templates);
  else {
    out.table(
      [
        { title: "template", value: ([id]) => id },
        { title: "creates", value: ([, { setup }]) => ["agent", ...Object.keys(setup ?? {})].join(", ") },
        { title: "description", value: ([, { fields }]) => fields.description },
      ],
      Object.entries(templates),
      "No templates found.",
    );
  }
  return exitCodes.done;
}

export async function setUp(context: Context): Promise<number> {
  const { out } = context;
  const { fields, setup } = await readTemplate(context);
  const client = await context.client();
  const { setUpAgent } = await import("@gantry/sdk");
  const created = await setUpAgent(client, fields, setup);
  const { agent, drives, memoryDrive, schedule, trigger } = created;
  const isPublished = schedule !== undefined || trigger !== undefined || context.flag("publish");
  if (context.flag("publish") && !schedule && !trigger) await client.agents.publish(agent.id);
  printWarnings(context, agent.warnings);
  if (context.flag("json")) {
    out.json(created);
    return exitCodes.done;
  }
  out.details([
    ["Agent", agent.slug],
    ["Id", agent.id],
    ["Status", isPublished ? "published" : agent.status],
    ...drives.map(({ name, id }) => ["Drive", `${name} (${id})`] as const),
    ["Memory", memoryDrive && `${memoryDrive.name} (${memoryDrive.id})`],
    ["Schedule", schedule && `${schedule.cron} (${schedule.id}), disabled`],
    ["Trigger", trigger?.id],
    ["Trigger URL", trigger?.url],
  ]);
  if (trigger) out.note("The URL of the trigger is shown once. Anyone who has it can start runs at your expense.");
  if (schedule) out.note(`Enable the schedule with: gantry schedules resume ${schedule.id}`);
  out.note(
    isPublished
      ? `Run it with: gantry agents run ${agent.slug}`
      : `Publish it with: gantry agents publish ${agent.slug}`,
  );
  return exitCodes.done;
}

async function readTemplate(context: Context): Promise<Template> {
  const [given = ""] = context.words;
  const [name, model, setupFile] = [context.text("name"), context.text("model"), context.text("setup")];
  const template = Object.hasOwn(templates, given) ? templates[given] : await fromFile(given);
  const setup = setupFile === undefined ? template?.setup : await readJsonObject<AgentSetup>(setupFile);
  const fields = {
    ...(template?.fields as NewAgent),
    ...(name !== undefined && { name }),
    ...(model !== undefined && { model }),
  };
  return { fields, ...(setup && { setup }) };
}

async function fromFile(file: string): Promise<Template> {
  if (file !== "-" && !existsSync(file)) {
    const meant = closest(file, Object.keys(templates));
    const advice = meant === undefined ? "gantry agents templates lists the templates." : `Did you mean ${meant}?`;
    throw wrongArguments(`${file} is neither a template nor a file. ${advice}`);
  }
  const beside = file.replace(/(\.json)?$/, ".setup.json");
  const setup = file !== "-" && existsSync(beside) ? await readJsonObject<AgentSetup>(beside) : undefined;
  return { fields: await readJsonObject<NewAgent>(file), ...(setup && { setup }) };
}
