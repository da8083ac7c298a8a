import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endedForWantOfRoom, lastWords, reasonIn, tellsOfFullDisk } from "./server-log.ts";

let room: string;
let logFile: string;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-log-"));
  logFile = join(room, "postgres.log");
});
afterAll(() => rm(room, { recursive: true, force: true }));

const full = `2026-10-16 10:00:00.123 UTC [77] PANIC:  could not write to file "pg_wal/xlogtemp.77": No space left on device
2026-10-16 10:00:00.123 UTC [77] STATEMENT:  insert into secrets values ('what somebody wrote')
\tover two lines
2026-10-16 10:00:00.456 UTC [70] LOG:  server process (PID 77) was terminated by signal 6: Aborted
`;

test("the last words are the server's own, without what others had asked of it", async () => {
  expect(await lastWords({ logFile })).toBe(`Its log ${logFile} says nothing.`);
  await writeFile(logFile, `${"\tx".repeat(50_000)}\n${full}`);
  const words = await lastWords({ logFile });
  expect(words).toBe(
    `Its log ${logFile} ends with:\n` +
      'PANIC:  could not write to file "pg_wal/xlogtemp.77": No space left on device\n' +
      "LOG:  server process (PID 77) was terminated by signal 6: Aborted",
  );
  expect([tellsOfFullDisk(words), endedForWantOfRoom(words)]).toEqual([true, true]);
  const since = `${words}\nFATAL:  could not create any TCP/IP sockets`;
  expect([tellsOfFullDisk(since), endedForWantOfRoom(since), endedForWantOfRoom("")]).toEqual([true, false, false]);
  await writeFile(logFile, full.replaceAll("77", "99"));
  expect(reasonIn(await lastWords({ logFile }))).toBe(reasonIn(words));
  await writeFile(logFile, full.replace("No space left on device", "Input/output error"));
  const other = await lastWords({ logFile });
  expect(tellsOfFullDisk(other)).toBe(false);
  expect(reasonIn(other)).not.toBe(reasonIn(words));
  const early = "postgres: could not find the database system\nExpected to find it elsewhere\n";
  await writeFile(logFile, full + early);
  expect(await lastWords({ logFile })).toContain(`signal 6: Aborted\n${early.trim()}`);
});
