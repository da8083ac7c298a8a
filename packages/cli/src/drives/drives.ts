import type { DriveIndexRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import { ago, count } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { printDeleted } from "../shared/print-deleted.ts";
import { confirmDeletion } from "../shared/questions.ts";
import { findDrive } from "./find-drive.ts";

export async function listDrives(context: Context): Promise<number> {
  const client = await context.client();
  return printList(
    context,
    client.drives.each(),
    [
      { title: "drive", value: ({ name }) => name },
      { title: "id", value: ({ id }) => id },
      { title: "index", value: ({ index }) => indexText(index) },
      { title: "created", value: ({ created_at }) => ago(created_at) },
      { title: "description", value: ({ description }) => description },
    ],
    "You have no drives. Create one with: gantry drives create NAME",
  );
}

export function indexText(index: DriveIndexRecord | null): string {
  if (!index) return "";
  const { status, indexed, files, failed, paused_reason } = index;
  if (status === "paused") return `paused: ${paused_reason}`;
  return `${status}, ${count(indexed)} of ${count(files)} files${failed > 0 ? `, ${count(failed)} failed` : ""}`;
}

export async function createDrive(context: Context): Promise<number> {
  const { out } = context;
  const [name = ""] = context.words;
  const [description, embedding_model] = [context.text("description"), context.text("embedding-model")];
  const isIndexed = context.flag("index") || embedding_model !== undefined;
  const client = await context.client();
  const drive = await client.drives.create({
    name,
    ...(description !== undefined && { description }),
    ...(isIndexed && { index: { embedding_model: embedding_model ?? null } }),
  });
  if (context.flag("json")) out.json(drive);
  else {
    out.line(drive.id);
    out.note(`Copy files to it with: gantry drives cp FILE ${drive.id}:/`);
  }
  return exitCodes.done;
}

export async function deleteDrive(context: Context): Promise<number> {
  const client = await context.client();
  const { id, name } = await findDrive(client, context.words[0] ?? "");
  if (!(await confirmDeletion(context, `the drive ${name} (${id}) with all its files`))) return exitCodes.failed;
  await client.drives.delete(id, { force: context.flag("force") });
  return printDeleted(context, id);
}
