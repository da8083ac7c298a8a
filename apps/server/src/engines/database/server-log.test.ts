import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endedByFullDisk, logTail, mentionsFullDisk, reasonIn } from "./server-log.ts";

let folder: string;
let logFile: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gantry-log-"));
  logFile = join(folder, "postgres.log");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const full = `2026-10-16 10:00:00.123 UTC [77] PANIC:  could not write to file "pg_wal/xlogtemp.77": No space left on device
2026-10-16 10:00:00.123 UTC [77] STATEMENT:  insert into secrets values ('private data')
\tover two lines
2026-10-16 10:00:00.456 UTC [70] LOG:  server process (PID 77) was terminated by signal 6: Aborted
`;

test("the tail contains the server's messages without the statements of clients", async () => {
  expect(await logTail({ logFile })).toBe(`Its log ${logFile} is empty.`);
  await writeFile(logFile, `${"\tx".repeat(50_000)}\n${full}`);
  const tail = await logTail({ logFile });
  expect(tail).toBe(
    `Its log ${logFile} ends with:\n` +
      'PANIC:  could not write to file "pg_wal/xlogtemp.77": No space left on device\n' +
      "LOG:  server process (PID 77) was terminated by signal 6: Aborted",
  );
  expect([mentionsFullDisk(tail), endedByFullDisk(tail)]).toEqual([true, true]);
  const since = `${tail}\nFATAL:  could not create any TCP/IP sockets`;
  expect([mentionsFullDisk(since), endedByFullDisk(since), endedByFullDisk("")]).toEqual([true, false, false]);
  await writeFile(logFile, full.replaceAll("77", "99"));
  expect(reasonIn(await logTail({ logFile }))).toBe(reasonIn(tail));
  await writeFile(logFile, full.replace("No space left on device", "Input/output error"));
  const other = await logTail({ logFile });
  expect(mentionsFullDisk(other)).toBe(false);
  expect(reasonIn(other)).not.toBe(reasonIn(tail));
  const early = "postgres: could not find the database system\nExpected to find it elsewhere\n";
  await writeFile(logFile, full + early);
  expect(await logTail({ logFile })).toContain(`signal 6: Aborted\n${early.trim()}`);
});
