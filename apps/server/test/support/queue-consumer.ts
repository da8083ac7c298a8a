/**
 * A worker process for tests to kill. Prints `waiting` once it consumes and `woken` after a wake-up, and then
 * never ends that call. Arguments: the driver's name and its address.
 */
import { connect } from "../../src/engines/database/index.ts";
import { openPostgresQueue } from "../../src/engines/queue/postgres-queue.ts";
import type { Queue } from "../../src/engines/queue/queue.ts";
import { openRabbitMqQueue } from "../../src/engines/queue/rabbitmq-queue.ts";

const [driver, url = ""] = process.argv.slice(2);
const onTrouble = (text: string): void => void process.stderr.write(`${text}\n`);
const queue: Queue =
  driver === "postgres"
    ? openPostgresQueue({ database: connect({ url }), onTrouble })
    : await openRabbitMqQueue({ url, onTrouble });

let calls = 0;
await queue.consume("predictions", { parallel: 1 }, async () => {
  if (++calls === 1) return;
  process.stdout.write("woken\n");
  await new Promise(() => undefined);
});
process.stdout.write("waiting\n");
