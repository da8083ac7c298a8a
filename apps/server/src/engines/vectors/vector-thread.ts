import { Worker } from "node:worker_threads";
import { fault } from "../../kernel/errors.ts";
import type { FromVectorThread, ToVectorThread, VectorJob, VectorResult } from "./vectors.worker.ts";

interface Waiting {
  resolve(result: VectorResult): void;
  reject(error: Error): void;
}

/** One thread that keeps its state between jobs. It is started when needed, and again after it died. */
export class VectorThread {
  readonly #onDeath: (error: Error | undefined) => void;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;

  /** `onDeath`: all tables are gone. */
  constructor(onDeath: (error: Error | undefined) => void) {
    this.#onDeath = onDeath;
  }

  run(job: VectorJob): Promise<VectorResult> {
    const worker = this.#worker ?? this.#start();
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      // An idle thread must not keep the process alive.
      worker.ref();
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ ...job, id } satisfies ToVectorThread);
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL("./vectors.worker.ts", import.meta.url), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    });
    this.#worker = worker;
    worker.on("message", (answer: FromVectorThread) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if (this.#waiting.size === 0) worker.unref();
      if ("error" in answer) waiting?.reject(failed(answer.error));
      else waiting?.resolve(answer.result);
    });
    let cause: Error | undefined;
    worker.on("error", (error) => {
      cause = error instanceof Error ? error : new Error(String(error));
    });
    worker.on("exit", () => {
      this.#worker = undefined;
      const abandoned = [...this.#waiting.values()];
      this.#waiting.clear();
      this.#onDeath(cause);
      for (const { reject } of abandoned) reject(failed(cause ?? "The thread ended"));
    });
    return worker;
  }
}

function failed(cause: unknown): Error {
  return fault("service_unavailable", "The vectors could not be searched. Try again.", { cause });
}
