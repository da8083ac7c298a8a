import { copyFile, open, stat, truncate } from "node:fs/promises";
import type { Cluster } from "./cluster.ts";

const largestLog = 10 * 1024 * 1024;
const tailBytes = 16 * 1024;
const tailLines = 8;
/** `log_line_prefix` of cluster.ts: time and pid. */
const prefix = /^\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] /;
/** Messages of the server. STATEMENT and continuation lines may quote data of users. */
const ofServer = /^(LOG|WARNING|ERROR|FATAL|PANIC|DETAIL|HINT): /;
const ofOthers = /^(\t|[A-Z]+: {2})/;
/** Early messages have no level. */
const isOwn = (line: string): boolean => line !== "" && (ofServer.test(line) || !ofOthers.test(line));

/** The server appends to its log, so the file can be truncated. Keeps one older part. */
export async function boundLog({ logFile }: Pick<Cluster, "logFile">): Promise<void> {
  const size = await stat(logFile).then(
    (found) => found.size,
    () => 0,
  );
  if (size < largestLog) return;
  await copyFile(logFile, `${logFile}.1`);
  await truncate(logFile, 0);
}

/** The last messages of the server, as a sentence with the path of the log. */
export async function logTail(cluster: Pick<Cluster, "logFile">): Promise<string> {
  const lines = (await tailOf(cluster.logFile)).split("\n").map((line) => line.replace(prefix, ""));
  const messages = lines.filter(isOwn).slice(-tailLines);
  if (messages.length === 0) return `Its log ${cluster.logFile} is empty.`;
  return `Its log ${cluster.logFile} ends with:\n${messages.join("\n")}`;
}

/** A server that crashes on a full disk cannot report it to clients. */
export function mentionsFullDisk(tail: string): boolean {
  return /(PANIC|FATAL): .*(No space left on device|Disk quota exceeded)/.test(tail);
}

/** Only the last exit in the log counts. */
export function endedByFullDisk(tail: string): boolean {
  return mentionsFullDisk(tail.split("\n").findLast((line) => /^(PANIC|FATAL): /.test(line)) ?? "");
}

/** The last fatal line without numbers, so that equal failures compare equal. */
export function reasonIn(tail: string): string {
  const reason = tail.split("\n").findLast((line) => !/^(LOG|WARNING|ERROR|DETAIL|HINT): /.test(line));
  return (reason ?? "").replace(/\d+/g, "");
}

/** Whole lines only, because a cut line cannot be classified. */
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
