import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";

export function printDeleted({ out, flag }: Context, id: string): number {
  if (flag("json")) out.json({ id, deleted: true });
  else out.note(`Deleted ${id}.`);
  return exitCodes.done;
}
