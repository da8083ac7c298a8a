export interface ProgramLimits {
  /** Of processor time: a busy machine takes nothing from a program. */
  cpuMs: number;
  memoryBytes: number;
}

/** What is sent to a thread. */
export interface ProgramJob {
  code: string;
  /** As JSON; left out where the program gets none. */
  input?: string;
}

export function tookTooLong(cpuMs: number): string {
  return `The program took more than ${cpuMs / 1000} s of processor time and was stopped`;
}

export function tookTooMuch(memoryBytes: number): string {
  return `The program needed more than ${Math.round(memoryBytes / 1_048_576)} MB of memory, or nests too deeply, and was stopped`;
}
