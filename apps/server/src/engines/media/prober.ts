import { Worker } from "node:worker_threads";
import type { MediaInfo } from "./media.ts";
import type { ProbeAnswer, ProbeJob } from "./probe.worker.ts";

interface Waiting {
  source: string | Uint8Array;
  resolve(info: MediaInfo): void;
  reject(error: Error): void;
}

const unreadable: MediaInfo = {
  media: "other",
  extension: "",
  contentType: "application/octet-stream",
  damaged: true,
};

/**
 * One worker thread, made at the first use and kept; one file at a time.
 *
 *   idle ──next──► busy ──answer──► idle
 *                   └── time is up | thread dies (out of memory) ──► the file is unreadable, a new thread for the next
 */
export class Prober {
  readonly #maxMs: number;
  readonly #queue: Waiting[] = [];
  #worker: Worker | undefined;
  #current: (Waiting & { id: number; timer: NodeJS.Timeout }) | undefined;
  #lastId = 0;
  #closed = false;

  constructor(options: { maxMs: number }) {
    this.#maxMs = options.maxMs;
  }

  probe(source: string | Uint8Array): Promise<MediaInfo> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error("The prober is closed"));
      this.#queue.push({ source, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#queue.splice(0)) waiting.reject(new Error("The prober is closed"));
    await this.#drop();
  }

  #next(): void {
    if (this.#current) return;
    const waiting = this.#queue.shift();
    if (!waiting) {
      // A thread that waits for work must not keep the process alive.
      this.#worker?.unref();
      return;
    }
    const id = ++this.#lastId;
    this.#current = { ...waiting, id, timer: setTimeout(() => void this.#drop(), this.#maxMs) };
    this.#worker ??= this.#start();
    this.#worker.ref();
    const job: ProbeJob = { id, source: waiting.source };
    this.#worker.postMessage(job);
  }

  #start(): Worker {
    const worker = new Worker(new URL("./probe.worker.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 },
    });
    worker.on("message", (answer: ProbeAnswer) => {
      if (answer.id !== this.#current?.id) return;
      this.#settle((current) => {
        if ("info" in answer) current.resolve(answer.info);
        else current.reject(new Error(answer.error));
      });
    });
    const lost = () => {
      if (this.#worker === worker) void this.#drop();
    };
    worker.on("error", lost);
    worker.on("exit", lost);
    return worker;
  }

  /** Ends the thread, whatever it does. The file it worked on counts as unreadable. */
  async #drop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    const ended = worker?.terminate();
    this.#settle((current) => current.resolve(unreadable));
    await ended;
  }

  #settle(tell: (current: Waiting) => void): void {
    const current = this.#current;
    if (!current) return;
    clearTimeout(current.timer);
    this.#current = undefined;
    tell(current);
    this.#next();
  }
}
