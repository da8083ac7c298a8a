export interface ProgramLimits {
  /** Processor time, so that a busy machine does not stop a program. */
  cpuMs: number;
  memoryBytes: number;
}

export interface ProgramJob {
  code: string;
  /** JSON. */
  input?: string;
}

export function tookTooLong(cpuMs: number): string {
  return `The program took more than ${cpuMs / 1000} s of processor time and was stopped`;
}

export function tookTooMuch(memoryBytes: number): string {
  return `The program needed more than ${Math.round(memoryBytes / 1_048_576)} MB of memory, or nests too deeply, and was stopped`;
}
