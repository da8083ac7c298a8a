import { parentPort } from "node:worker_threads";
import { type Painting, paint, type Reference, readReference, refusalOf } from "@gantry/painter";
import sharp from "sharp";
import type { FromThread, Numbered } from "../../../kernel/job-thread.ts";

// libvips runs on the libuv pool of the process. One thread per picture leaves the cores to requests.
sharp.concurrency(1);
sharp.cache(false);

/** A picture is painted in steps, so that a refused prompt opens no file and only one reference is in memory undecoded. */
export type PainterJob =
  | { step: "check"; prompt: string; isCheckerOn: boolean }
  | { step: "read"; bytes: Uint8Array<SharedArrayBuffer>; isOneOfMany: boolean }
  /** `cancelled` is set to 1 to stop before the next slow part. */
  | { step: "paint"; painting: Painting; references: readonly Reference[]; cancelled: Int32Array<SharedArrayBuffer> };

export interface PainterResult {
  refusal?: string | undefined;
  reference?: Reference;
  image?: Uint8Array;
  error?: string;
}

async function work(job: PainterJob): Promise<PainterResult> {
  if (job.step === "check") return { refusal: refusalOf(job.prompt, job.isCheckerOn) };
  if (job.step === "read") return { reference: await readReference(new Uint8Array(job.bytes), job.isOneOfMany) };
  const proceed = () => {
    if (Atomics.load(job.cancelled, 0) === 1) throw new Error("The picture was cancelled");
  };
  return { image: await paint(job.painting, job.references, proceed) };
}

const send = (message: FromThread<PainterResult>, transfer: ArrayBuffer[] = []) =>
  parentPort?.postMessage(message, transfer);

parentPort?.on("message", async ({ id, ...job }: Numbered<PainterJob>) => {
  const result = await work(job).catch(
    (error: unknown): PainterResult => ({
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }),
  );
  const buffer = result.image?.buffer;
  send({ id, result }, buffer instanceof ArrayBuffer ? [buffer] : []);
});
send({ ready: true });
