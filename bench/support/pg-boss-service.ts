/** pg-boss as a service: queue and workers in one process, woken by notifications, with batches. */
import { callUpstream, jobEnded, serveJobs } from "./job-service.ts";
import { requirePeer } from "./peers.ts";

interface Boss {
  on(event: "error", listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  createQueue(name: string, options: object): Promise<void>;
  send(name: string, data: unknown): Promise<string>;
  fetch(name: string, options: object): Promise<{ id: string; data: unknown }[]>;
  complete(name: string, ids: string[]): Promise<unknown>;
  work(name: string, options: object, work: (jobs: { id: string; data: unknown }[]) => Promise<void>): Promise<string>;
}

const batchSize = 16;
const parallel = Number(process.env.PARALLEL);
const { PgBoss } = requirePeer("pg-boss") as { PgBoss: new (options: object) => Boss };
const boss = new PgBoss({ connectionString: process.env.BOSS_URL, useListenNotify: true, max: 20 });
boss.on("error", (error) => console.error(error));
await boss.start();
await boss.createQueue("jobs", { notify: true });
const options = { batchSize, localConcurrency: Math.ceil(parallel / batchSize), burstWhenBatchFull: true };
await boss.work("jobs", options, async (jobs) => {
  await Promise.all(jobs.map((job) => callUpstream(job.data)));
  // Completed here instead of after the return, so that the time is known.
  await boss.complete(
    "jobs",
    jobs.map((job) => job.id),
  );
  for (const { id } of jobs) jobEnded(id);
});
serveJobs({ add: (fields) => boss.send("jobs", fields) });
