import { type OnTrouble, type Queue, type Topic, topics } from "./queue.ts";
import { connectRabbitMq, queueOf } from "./rabbitmq-connection.ts";
import { type RabbitMqConsumer, startRabbitMqConsumer } from "./rabbitmq-consumer.ts";
import { createWakeSender } from "./wake-sender.ts";
import { createWakeSlots, lookAfterMs as usualLookAfterMs } from "./wake-slots.ts";
import { within } from "./within.ts";

/** The most workers to wake at once; each works until nothing is left. */
const maxBurst = 16;
const readyWithinMs = 1000;
const closeWithinMs = 2000;

/**
 * Each wake-up goes to one consumer, and to another if that one dies. Quorum queues: a majority of the broker's nodes
 * has stored it before `wake` resolves.
 */
export async function openRabbitMqQueue(options: {
  url: string;
  onTrouble: OnTrouble;
  lookAfterMs?: number;
}): Promise<Queue> {
  const { url, onTrouble, lookAfterMs = usualLookAfterMs } = options;
  const connection = await connectRabbitMq(url, onTrouble);
  const publisher = connection.createPublisher({ confirm: true, queues: topics.map(queueOf) });
  const consumers = new Set<RabbitMqConsumer>();
  let closed = false;

  async function publish(topic: Topic, count: number): Promise<void> {
    // While the broker is down or blocked, messages would pile up in our memory.
    if (!connection.ready) throw new Error("RabbitMQ is not available");
    const envelope = { routingKey: queueOf(topic).queue, durable: true };
    await Promise.all(Array.from({ length: Math.min(count, maxBurst) }, () => publisher.send(envelope, "wake")));
  }

  const senderOf = (topic: Topic) => createWakeSender({ send: (count) => publish(topic, count), onTrouble });
  const senders = { predictions: senderOf("predictions"), runs: senderOf("runs") } satisfies Record<Topic, unknown>;

  return {
    wake: (topic, count = 1) => senders[topic].wake(count),

    async consume(topic, { parallel }, onWake) {
      if (closed) throw new Error("The queue is closed");
      const slots = createWakeSlots({ parallel, onWake, onTrouble, lookAfterMs });
      slots.wakeSelf();
      const consumer = await startRabbitMqConsumer({ connection, topic, parallel, slots, onTrouble });
      consumers.add(consumer);
      return {
        async stop() {
          consumers.delete(consumer);
          await consumer.stop();
        },
      };
    },

    async ready() {
      if (closed || !connection.ready) return false;
      return within(readyWithinMs, connection.queueDeclare(queueOf("predictions"))).then(
        () => true,
        () => false,
      );
    },

    async close() {
      if (closed) return;
      closed = true;
      await Promise.all(topics.map((topic) => senders[topic].close()));
      const inOrder = async (): Promise<void> => {
        await Promise.all([...consumers].map((consumer) => consumer.abandon()));
        await publisher.close();
        await connection.close();
      };
      await within(closeWithinMs, inOrder()).catch(() => connection.unsafeDestroy());
    },
  };
}
