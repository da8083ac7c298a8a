import { createHash } from "node:crypto";
import type { Random } from "../../apps/server/test/proof/random.ts";
import { ask } from "./ask.ts";
import type { Stage } from "./stage.ts";

const sha = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

/** Repeats of seeded text with a mark: different for each call, and cheap to make. */
function bytesOf(random: Random, mark: string, most: number): Uint8Array<ArrayBuffer> {
  const words = ["harbour", "bridge", "crane", "tide", "ledger", "signal", "granite", "lantern"] as const;
  const line = Array.from({ length: 12 }, () => random.pick(words)).join(" ");
  return new TextEncoder().encode(`${mark}\n${`${line}.\n`.repeat(random.between(1, Math.ceil(most / line.length)))}`);
}

export async function upload(stage: Stage, random: Random, mark: string): Promise<void> {
  const { key } = random.pick(stage.people);
  const bytes = bytesOf(random, mark, 300_000);
  const form = { file: new Blob([bytes]) };
  const sent = await ask(stage, "upload", "POST", "/api/v1/admin/talk/upload_file", { key, form });
  if (!sent) return;
  const link = new URL(sent.body.url);
  const path = link.pathname + link.search;
  const read = await ask(stage, "download", "GET", path);
  if (read && sha(read.text) !== sha(bytes)) stage.journal.fault("upload: other bytes", path);
  if (random.chance(0.7)) {
    const id = /file_\w+/.exec(sent.body.file_input.s3_path)?.[0] ?? "";
    // After a lost answer the file may be deleted already.
    await ask(stage, "delete upload", "DELETE", `/api/v2/files/${id}`, { key, expect: [204, 404] });
  } else stage.learned.uploads.set(path, sha(bytes));
}

/** Few paths, so that files are replaced and deleted all the time. Each person's file has one writer at a time. */
const writing = new Set<string>();

export async function changeDrive(stage: Stage, random: Random, mark: string): Promise<void> {
  const { key, drive } = random.pick(stage.people);
  const path = `/papers/${random.between(1, 40)}.txt`;
  const id = `${drive}${path}`;
  const bytes = bytesOf(random, mark, 12_000);
  const wish = random.next();
  if (writing.has(id)) return;
  writing.add(id);
  try {
    const { driveFiles } = stage.learned;
    const before = driveFiles.get(id) ?? new Set<string | null>([null]);
    const at = `/v1/drives/${drive}/files${path}`;
    if (wish < 0.2) {
      driveFiles.set(id, new Set([...before, null]));
      const deleted = await ask(stage, "drive delete", "DELETE", at, { key, expect: [204, 404] });
      if (deleted) driveFiles.set(id, new Set([null]));
      return;
    }
    driveFiles.set(id, new Set([...before, sha(bytes)]));
    const file = new Blob([bytes]);
    const form = { path, file };
    const created = await ask(stage, "drive write", "POST", `/v1/drives/${drive}/files`, {
      key,
      form,
      expect: [201, 409],
    });
    const written =
      created?.status === 409
        ? await ask(stage, "drive replace", "PUT", at, { key, form: { file }, expect: [200, 404] })
        : created;
    if (written && written.status < 300) driveFiles.set(id, new Set([sha(bytes)]));
  } finally {
    writing.delete(id);
  }
}

export async function searchDrive(stage: Stage, random: Random): Promise<void> {
  const { key, drive } = random.pick(stage.people);
  const q = random.pick(["harbour bridge", "granite", "tide ledger", "nothing like it"]);
  await ask(stage, "drive search", "GET", `/v1/drives/${drive}/search?q=${encodeURIComponent(q)}`, { key });
  await ask(stage, "drive list", "GET", `/v1/drives/${drive}/items?path=/`, { key });
}

/** Acknowledged files have the bytes that were sent, also after crashes. */
export async function auditFiles(stage: Stage): Promise<void> {
  const { learned, journal, people } = stage;
  for (const [id, allowed] of learned.driveFiles) {
    const person = people.find(({ drive }) => id.startsWith(drive));
    if (!person) continue;
    const at = `/v1/drives/${person.drive}/files${id.slice(person.drive.length)}`;
    const answer = await ask(stage, "drive read", "GET", at, { key: person.key, expect: [200, 404] });
    const found = answer?.status === 200 ? sha(answer.text) : null;
    if (!allowed.has(found)) journal.fault("drive: other bytes", `${id} is ${found}, not ${[...allowed].join(" or ")}`);
  }
  for (const [path, hash] of [...learned.uploads].slice(-200)) {
    const answer = await ask(stage, "download", "GET", path);
    if (answer && sha(answer.text) !== hash) journal.fault("upload: other bytes", path);
  }
}
