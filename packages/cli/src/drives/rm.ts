import type { GantryClient } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { describeFailure, exitCodes, Failure } from "../frame/failure.ts";
import { confirmDeletion } from "../shared/questions.ts";
import { findDrive } from "./find-drive.ts";
import { typedPlace } from "./ls.ts";
import { isDirectory } from "./plan-copies.ts";

export async function remove(context: Context): Promise<number> {
  const { out, words } = context;
  const places = words.map((text) => ({ text, ...typedPlace(text) }));
  const client = await context.client();
  const what = places.length === 1 ? (words[0] ?? "") : `${places.length} files and directories`;
  if (!(await confirmDeletion(context, what))) return exitCodes.failed;
  const ids = new Map<string, string>();
  const deleted: string[] = [];
  for (const { text, drive, path } of places) {
    try {
      const id = ids.get(drive) ?? (await findDrive(client, drive)).id;
      ids.set(drive, id);
      await removeOne(client, { id, path }, context);
      deleted.push(text);
    } catch (error) {
      if (context.signal.aborted) return exitCodes.interrupted;
      out.note(`${text}: ${describeFailure(error)}`);
    }
  }
  if (context.flag("json")) out.json({ deleted });
  if (deleted.length === places.length) return exitCodes.done;
  return deleted.length > 0 ? exitCodes.partly : exitCodes.failed;
}

async function removeOne(client: GantryClient, at: { id: string; path: string }, context: Context): Promise<void> {
  const { signal } = context;
  const { id, path } = at;
  if (!(await isDirectory(client.drives, at, signal))) return client.drives.files.delete(id, path, { signal });
  if (!context.flag("recursive")) throw new Failure("This is a directory. Add -r to delete it with all its files.");
  return client.drives.deleteTree(id, path, { signal });
}
