import { copyFile, open, stat, truncate } from "node:fs/promises";
import type { Cluster } from "./cluster.ts";

const largestLog = 10 * 1024 * 1024;
const tailBytes = 16 * 1024;
const tailLines = 8;
/** As `log_line_prefix` of cluster.ts has it: the moment and the process, which differ each time. */
const prefix = /^\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] /;
/** What the server says of itself. The statement that it was working on is others' business, and may go on behind a tab. */
const ofServer = /^(LOG|WARNING|ERROR|FATAL|PANIC|DETAIL|HINT): /;
const ofOthers = /^(\t|[A-Z]+: {2})/;
/** Before it has a log to write to, it says things without any such word. */
const isOwn = (line: string): boolean => line !== "" && (ofServer.test(line) || !ofOthers.test(line));

/** The server appends to its log, so cutting the file is enough; one older part is kept. */
export async function boundLog({ logFile }: Pick<Cluster, "logFile">): Promise<void> {
  const size = await stat(logFile).then(
    (found) => found.size,
    () => 0,
  );
  if (size < largestLog) return;
  await copyFile(logFile, `${logFile}.1`);
  await truncate(logFile, 0);
}

/** The last that the server said before it ended, and where it is to be read in full. */
export async function lastWords(cluster: Pick<Cluster, "logFile">): Promise<string> {
  const lines = (await tailOf(cluster.logFile)).split("\n").map((line) => line.replace(prefix, ""));
  const said = lines.filter(isOwn).slice(-tailLines);
  if (said.length === 0) return `Its log ${cluster.logFile} says nothing.`;
  return `Its log ${cluster.logFile} ends with:\n${said.join("\n")}`;
}

/** Whether it ended for want of room: then it does not get to answer that. */
export function tellsOfFullDisk(words: string): boolean {
  return /(PANIC|FATAL): .*(No space left on device|Disk quota exceeded)/.test(words);
}

/** The same of the last that it ended with: of several ends in its log, the others are of before. */
export function endedForWantOfRoom(words: string): boolean {
  return tellsOfFullDisk(words.split("\n").findLast((line) => /^(PANIC|FATAL): /.test(line)) ?? "");
}

/** The same whenever it ends for the same reason: the last that is no mere report, without numbers. */
export function reasonIn(words: string): string {
  const reason = words.split("\n").findLast((line) => !/^(LOG|WARNING|ERROR|DETAIL|HINT): /.test(line));
  return (reason ?? "").replace(/\d+/g, "");
}

/** Whole lines: of half a line nobody knows whose it is. */
async function tailOf(path: string): Promise<string> {
  const file = await open(path, "r").catch(() => undefined);
  if (!file) return "";
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(Math.min(size, tailBytes));
    await file.read(tail, 0, tail.length, size - tail.length);
    const text = tail.toString();
    return size > tailBytes ? text.slice(text.indexOf("\n") + 1) : text;
  } finally {
    await file.close();
  }
}
