/**
 * The minimum cost of a durable queue on PostgreSQL: each statement writes all jobs that arrived or ended during the
 * last one, a row per job, and answers follow the commit. Without keys, limits, money, usage, fairness, results or
 * recovery of jobs whose process dies.
 */
import { connect } from "../../apps/server/src/engines/database/index.ts";
import { callUpstream, jobEnded, serveJobs } from "./job-service.ts";

const { sql } = connect({ url: process.env.QUEUE_URL ?? "", poolSize: 1 });
await sql`create table if not exists bare_jobs (id text primary key, input text not null)`;

interface Arrival {
  id: string;
  input: string;
  accepted(): void;
}
let arrivals: Arrival[] = [];
let ends: string[] = [];
let isWriting = false;

async function write(): Promise<void> {
  if (isWriting) return;
  isWriting = true;
  while (arrivals.length + ends.length > 0) {
    const [came, left] = [arrivals, ends];
    arrivals = [];
    ends = [];
    const [ids, inputs] = [came.map(({ id }) => id), came.map(({ input }) => input)];
    await sql`
      with gone as (delete from bare_jobs where id = any (${left}::text[]))
      insert into bare_jobs select * from unnest(${ids}::text[], ${inputs}::text[])`;
    for (const { accepted } of came) accepted();
    for (const id of left) jobEnded(id);
  }
  isWriting = false;
}

const waiting: Arrival[] = [];
let free = Number(process.env.PARALLEL);

function startJobs(): void {
  while (free > 0) {
    const job = waiting.shift();
    if (!job) return;
    free--;
    void callUpstream(JSON.parse(job.input)).then(() => {
      free++;
      ends.push(job.id);
      void write();
      startJobs();
    });
  }
}

serveJobs({
  add: (fields) =>
    new Promise((resolve) => {
      const id = crypto.randomUUID();
      const job = { id, input: JSON.stringify(fields), accepted };
      function accepted(): void {
        resolve(id);
        waiting.push(job);
        startJobs();
      }
      arrivals.push(job);
      void write();
    }),
});
