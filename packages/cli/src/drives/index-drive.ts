import type { DriveRecord, GantryClient } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes, wrongArguments } from "../frame/failure.ts";
import { printList } from "../frame/list.ts";
import { none } from "../shared/limits.ts";
import { confirmDeletion } from "../shared/questions.ts";
import { indexText } from "./drives.ts";
import { findDrive } from "./find-drive.ts";

export async function indexDrive(context: Context): Promise<number> {
  const { flag, text } = context;
  const model = text("embedding-model");
  const given = [flag("rebuild"), flag("failed"), flag("off"), model !== undefined];
  if (given.filter(Boolean).length > 1) {
    throw wrongArguments("Give only one of --embedding-model, --rebuild, --failed and --off.");
  }
  const client = await context.client();
  const drive = await findDrive(client, context.words[0] ?? "");
  if (flag("failed")) return listFailed(context, client, drive);
  if (flag("off")) return removeIndex(context, client, drive);
  if (flag("rebuild")) return print(context, await client.drives.rebuildIndex(drive.id));
  // Without an option the model stays: the API would take a missing one for none.
  const embedding_model = model === none ? null : (model ?? drive.index?.embedding_model ?? null);
  return print(context, await client.drives.update(drive.id, { index: { embedding_model } }));
}

function listFailed(context: Context, client: GantryClient, { id, name }: DriveRecord): Promise<number> {
  return printList(
    context,
    client.drives.eachIndexFile(id, { status: "failed" }),
    [
      { title: "file", value: ({ path }) => path },
      { title: "reason", value: ({ reason }) => reason },
    ],
    `No file of ${name} failed.`,
  );
}

async function removeIndex(context: Context, client: GantryClient, { id, name }: DriveRecord): Promise<number> {
  if (!(await confirmDeletion(context, `the index of the drive ${name} (${id})`))) return exitCodes.failed;
  return print(context, await client.drives.update(id, { index: null }));
}

function print({ out, flag }: Context, drive: DriveRecord): number {
  if (flag("json")) {
    out.json(drive);
    return exitCodes.done;
  }
  const { name, id, index } = drive;
  out.details([
    ["Drive", `${name} (${id})`],
    ["Index", index === null ? "none" : indexText(index)],
    ["Embedding model", index?.embedding_model],
  ]);
  if (index && index.failed > 0) out.note(`See which files failed with: gantry drives index ${id} --failed`);
  return exitCodes.done;
}
