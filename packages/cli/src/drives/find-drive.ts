import type { DriveRecord, GantryClient } from "@gantry/sdk";
import { Failure } from "../frame/failure.ts";

/** One of your drives by id or name. */
export async function findDrive(client: GantryClient, text: string): Promise<DriveRecord> {
  if (text.startsWith("drv_")) return client.drives.get(text);
  const found: DriveRecord[] = [];
  for await (const drive of client.drives.each()) if (drive.name === text) found.push(drive);
  const [only, another] = found;
  if (!only) throw new Failure(`The drive ${text} does not exist. gantry drives list shows your drives.`);
  if (!another) return only;
  const ids = found.map(({ id }) => id).join(", ");
  throw new Failure(`${found.length} drives have the name ${text}. Use one of the ids: ${ids}`);
}
