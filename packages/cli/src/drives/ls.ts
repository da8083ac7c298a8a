import type { DriveItem } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes, wrongArguments } from "../frame/failure.ts";
import { sizeOf } from "../frame/format.rules.ts";
import { printContent } from "../shared/save-content.ts";
import { findDrive } from "./find-drive.ts";
import { type DrivePlace, drivePlaceOf, lastName } from "./places.rules.ts";
import { isMissing, sizeOfFile } from "./plan-copies.ts";

export async function listItems(context: Context): Promise<number> {
  const { out } = context;
  const { drive, path } = typedPlace(context.words[0] ?? "");
  const client = await context.client();
  const { id } = await findDrive(client, drive);
  const recursive = context.flag("recursive");
  const items: DriveItem[] = [];
  try {
    for await (const item of client.drives.eachItem(id, { path, recursive })) items.push(item);
  } catch (error) {
    if (!isMissing(error) || path === "/") throw error;
    items.push({ path, type: "file", size: await sizeOfFile(client.drives, { id, path }) });
  }
  if (context.flag("json")) out.json({ items });
  else {
    const nameOf = (item: DriveItem) =>
      (recursive ? item.path : lastName(item.path)) + (item.type === "file" ? "" : "/");
    out.table(
      [
        { title: "size", value: (item) => (item.type === "file" ? sizeOf(item.size) : ""), align: "right" },
        { title: "name", value: nameOf },
      ],
      items,
      "The directory is empty.",
    );
  }
  return exitCodes.done;
}

export async function printFile(context: Context): Promise<number> {
  const { out } = context;
  const { drive, path } = typedPlace(context.words[0] ?? "");
  if (path === "/") throw wrongArguments("Give a file as DRIVE:PATH.");
  const client = await context.client();
  const { id } = await findDrive(client, drive);
  await printContent(out, await client.drives.files.download(id, path, { signal: context.signal }));
  return exitCodes.done;
}

/** A path that cannot exist is a wrong argument. */
export function typedPlace(text: string): DrivePlace {
  try {
    return drivePlaceOf(text);
  } catch (error) {
    throw wrongArguments((error as Error).message);
  }
}
