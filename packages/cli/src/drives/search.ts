import type { DriveSearchResult, SearchMode } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import { findDrive } from "./find-drive.ts";

const usualLimit = 8;

export async function searchDrive(context: Context): Promise<number> {
  const { out } = context;
  const [drive = "", ...query] = context.words;
  const client = await context.client();
  const { id } = await findDrive(client, drive);
  const answer = await client.drives.search(id, query.join(" "), {
    limit: context.number("limit") ?? usualLimit,
    mode: context.text("mode") as SearchMode | undefined,
  });
  if (context.flag("json")) {
    out.json(answer);
    return exitCodes.done;
  }
  for (const [n, result] of answer.results.entries()) {
    out.line(`${n === 0 ? "" : "\n"}${placeText(result)}`);
    for (const line of result.text.trim().split("\n")) out.line(`  ${line}`);
  }
  if (answer.results.length === 0) out.note("Nothing found.");
  if (!answer.is_complete) out.note("Some files are not indexed yet.");
  return exitCodes.done;
}

/** Such as `/manual.pdf, page 3, lines 10–24 (Faults › Pump)`. */
function placeText({ path, page, line_from, line_to, heading }: DriveSearchResult): string {
  const lines = line_from === undefined ? "" : `, lines ${line_from}–${line_to ?? line_from}`;
  return `${path}${page === undefined ? "" : `, page ${page}`}${lines}${heading === undefined ? "" : ` (${heading})`}`;
}
