import { largestItemPage } from "@gantry/wire";
import { type DrivesDeps, directoryNotFound, driveNotFound, type Item, type Page, type Place } from "./drive.ts";
import { directoryPath } from "./path.rules.ts";
import { directoryExists, selectDrive, selectItems } from "./store.ts";

/** What stands directly in a directory, ordered by name, byte by byte. The root is always there. */
export async function listItems(
  { database: { sql } }: DrivesDeps,
  place: Place,
  page: Page = { limit: largestItemPage, offset: 0 },
): Promise<{ items: Item[]; total: number }> {
  const at = { ...place, path: directoryPath(place.path) };
  if (!(await selectDrive(sql, at.ownerId, at.driveId))) throw driveNotFound();
  if (at.path !== "/" && !(await directoryExists(sql, at))) throw directoryNotFound();
  return selectItems(sql, at, page);
}
