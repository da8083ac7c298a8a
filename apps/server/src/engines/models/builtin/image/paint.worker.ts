import { parentPort } from "node:worker_threads";
import sharp from "sharp";
import { Fault, fault } from "../../../../kernel/errors.ts";
import { paint } from "./paint.ts";
import type { FromThread, Job, ToThread } from "./protocol.ts";
import { type Reference, readReference } from "./references.ts";
import { refusalOf } from "./safety.ts";
import { sizes } from "./sizes.ts";

// One libvips thread a picture: more would only take the cores from the requests beside it. libvips runs on the
// process's libuv pool, so each painting thread holds one of its (by default four) threads while pixels are made.
sharp.concurrency(1);
sharp.cache(false);

const port = parentPort;
if (!port) throw new Error("paint.worker.ts runs as a worker thread only");

class Dropped extends Error {}

let dropped = false;
let waiting: PromiseWithResolvers<Uint8Array> | undefined;
const say = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

port.on("message", (message: ToThread) => {
  if (message.type === "job") void work(message.job);
  else if (message.type === "reference") waiting?.resolve(message.bytes);
  else {
    dropped = true;
    waiting?.reject(new Dropped());
  }
});

async function work(job: Job): Promise<void> {
  dropped = false;
  try {
    const image = await make(job);
    say({ type: "done", image }, [image.buffer]);
  } catch (error) {
    if (error instanceof Dropped) say({ type: "dropped" });
    else if (error instanceof Fault) say({ type: "failed", fault: error.issues[0], reason: String(error.cause ?? "") });
    else
      say({
        type: "failed",
        fault: undefined,
        reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
  }
}

async function make(job: Job): Promise<Uint8Array<ArrayBuffer>> {
  const refusal = refusalOf(job.prompt, job.checked);
  if (refusal) {
    throw fault("content_policy_violation", `The prompt was refused by the content checker (${refusal}).`, {
      loc: ["body", "prompt"],
    });
  }
  const proceed = () => {
    if (dropped) throw new Dropped();
  };
  const references: Reference[] = [];
  for (const field of job.references) {
    proceed();
    waiting = Promise.withResolvers();
    say({ type: "want", field });
    const bytes = await waiting.promise;
    references.push(await readReference(bytes, field, job.references.length > 3));
  }
  const [width, height] = sizes[job.size];
  proceed();
  const { prompt, watermark, mode } = job;
  const image = await paint({ prompt, width, height, watermark, mode }, references, proceed);
  proceed();
  // A copy only where libvips gave memory that cannot change hands.
  return image.buffer instanceof ArrayBuffer && image.byteLength === image.buffer.byteLength
    ? (image as Uint8Array<ArrayBuffer>)
    : new Uint8Array(image);
}
