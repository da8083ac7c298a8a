import { Connection } from "rabbitmq-client";
import { describe } from "vitest";
import { testRabbitMq } from "../../../test/support/rabbitmq.ts";
import { queueContract } from "./queue.contract.ts";
import { topics } from "./queue.ts";
import { queueOf } from "./rabbitmq-connection.ts";
import { openRabbitMqQueue } from "./rabbitmq-queue.ts";

const broker = await testRabbitMq();

describe.skipIf(!broker)("on RabbitMQ", () => {
  queueContract("rabbitmq", async () => {
    const url = broker?.url ?? "";
    const inspector = new Connection(url);
    return {
      open: (options) => openRabbitMqQueue({ ...options, url }),
      childArguments: ["rabbitmq", url],
      async empty() {
        for (const topic of topics) await inspector.queueDelete(queueOf(topic).queue);
      },
      close: () => inspector.close(),
    };
  });
});
