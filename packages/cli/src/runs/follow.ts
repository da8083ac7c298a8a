import type { Context } from "../frame/command.ts";
import { followRun } from "./follow-run.ts";

export async function follow(context: Context): Promise<number> {
  const [id = ""] = context.words;
  const client = await context.client();
  const run = await client.runs.get(id);
  const options = { showsSteps: true, json: context.flag("json"), approvesAll: context.flag("yes"), cancels: false };
  return followRun(context, client, run, options);
}
