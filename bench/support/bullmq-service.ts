/** BullMQ as a service: queue, worker and events in one process, like Gantry alone on a machine. */
import { callUpstream, jobEnded, serveJobs } from "./job-service.ts";
import { requirePeer } from "./peers.ts";

interface BullMq {
  Queue: new (name: string, options: object) => { add(name: string, data: unknown): Promise<{ id: string }> };
  Worker: new (name: string, work: (job: { data: unknown }) => Promise<unknown>, options: object) => object;
  QueueEvents: new (
    name: string,
    options: object,
  ) => {
    on(event: "completed", listener: (event: { jobId: string }) => void): void;
    waitUntilReady(): Promise<unknown>;
  };
}

const { Queue, Worker, QueueEvents } = requirePeer("bullmq") as BullMq;
const connection = { host: "127.0.0.1", port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null };
const queue = new Queue("jobs", { connection });
const events = new QueueEvents("jobs", { connection });
events.on("completed", ({ jobId }) => jobEnded(jobId));
await events.waitUntilReady();
new Worker("jobs", (job) => callUpstream(job.data), { connection, concurrency: Number(process.env.PARALLEL) });
serveJobs({ add: async (fields) => (await queue.add("job", fields)).id });
