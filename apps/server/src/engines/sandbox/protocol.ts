import type { MessagePort } from "node:worker_threads";

export interface ProgramLimits {
  /** Processor time, so that a busy machine does not stop a program. */
  cpuMs: number;
  memoryBytes: number;
}

export interface ProgramJob {
  code: string;
  /** JSON. */
  input?: string;
  files?: FilesChannel;
}

/** How a program reaches its files: it asks by the port and sleeps until the flag is set. */
export interface FilesChannel {
  port: MessagePort;
  flag: Int32Array<SharedArrayBuffer>;
}

export interface FilesRequest {
  action: "read" | "list" | "write";
  path: string;
}

/** `bytes` of a file, or of the JSON of a list. */
export type FilesReply = { bytes: Uint8Array } | { error: string };

const megabyte = 1_048_576;
export const filesLimits = {
  calls: 200,
  readFile: 10 * megabyte,
  readAll: 20 * megabyte,
  writtenFiles: 50,
  writtenAll: 10 * megabyte,
};

export function tookTooLong(cpuMs: number): string {
  return `The program took more than ${cpuMs / 1000} s of processor time and was stopped`;
}

export function waitedTooLong(wallMs: number): string {
  return `The program took more than ${wallMs / 1000} s and was stopped`;
}

export function tookTooMuch(memoryBytes: number): string {
  return `The program needed more than ${Math.round(memoryBytes / 1_048_576)} MB of memory, or nests too deeply, and was stopped`;
}
