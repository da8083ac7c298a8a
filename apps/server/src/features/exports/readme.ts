import type { ExportPart } from "./part.ts";

const introduction = (username: string) => `Data of the Gantry account ${username}
${"=".repeat(27 + username.length)}

manifest.json is the last file of a complete archive. If it is missing, the download was cut: export again.

Files that end in .jsonl are lists with one JSON object per line, as the API of Gantry returns it. The API reference
describes each field. A long list continues in files such as predictions.0002.jsonl. Links in the lists end within 24
hours; the archive has the files themselves, unless it was made without them.

Secrets are not part of the archive: neither keys nor passwords, stored credentials or signing secrets.

Files
-----
README.txt      This text.
manifest.json   The account, the time, and how many records and bytes each list has.
files/          Uploads and outputs, as files/ID/NAME. files.jsonl lists them by id.
drives/         Drives, as drives/ID/PATH. drives.jsonl lists them by id.

Characters of names that not every system can store are written as %XX.

Lists
-----
`;

export function readme(username: string, parts: readonly ExportPart[]): string {
  const lists = Object.assign({}, ...parts.map((part) => part.lists)) as Record<string, string>;
  const all = { ...lists, missing: "Files that were deleted or could not be read during the export." };
  const rows = Object.entries(all).map(([name, about]) => `${`${name}.jsonl`.padEnd(28)}${about}\n`);
  return introduction(username) + rows.join("");
}
