import type { ErrorType } from "@gantry/wire";
import type { Loc } from "../../../../kernel/errors.ts";
import type { Size } from "./sizes.ts";

/**
 * What the driver and its painting thread say to each other, one job at a time:
 *
 *   driver  job ──────────────► thread        the prompt is checked before any file is read
 *           ◄────────────── want(field)       once for each reference, one after the other,
 *           reference(bytes) ─►               so a thread never holds two of them undecoded
 *           ◄───────── done | failed | dropped
 *           drop ─────────────►               at any time; the thread stops before its next step
 */
export interface Job {
  prompt: string;
  size: Size;
  watermark: boolean;
  mode: "standard" | "fast";
  checked: boolean;
  /** The names of the reference fields that are given. */
  references: readonly string[];
}

export type ToThread =
  | { type: "job"; job: Job }
  | { type: "reference"; bytes: Uint8Array<ArrayBuffer> }
  | { type: "drop" };

export type FromThread =
  | { type: "want"; field: string }
  | { type: "done"; image: Uint8Array<ArrayBuffer> }
  | { type: "failed"; fault: { type: ErrorType; msg: string; loc: Loc } | undefined; reason: string }
  | { type: "dropped" };
