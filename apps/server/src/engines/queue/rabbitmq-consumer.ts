import type { AsyncMessage, Channel, Connection } from "rabbitmq-client";
import type { OnTrouble, Topic } from "./queue.ts";
import { queueOf } from "./rabbitmq-connection.ts";
import type { WakeSlots } from "./wake-slots.ts";
import { within } from "./within.ts";

export interface RabbitMqConsumer {
  /** Resolves when the running calls have ended and are acknowledged. */
  stop(): Promise<void>;
  /** Leaves at once: the broker redelivers unacknowledged messages to others. */
  abandon(): Promise<void>;
}

const reopenMs = 1000;
const answerWithinMs = 2000;
/** A queue without a leader does not answer; the broker ends the connection after a minute. */
const silenceMs = 10_000;

/**
 *     opening ──► consuming ──channel, queue or connection lost──► (reopenMs) ──► opening, then one own call
 *
 * The library's own consumer resumes only after every running call has ended, which may take minutes.
 */
export async function startRabbitMqConsumer(options: {
  connection: Connection;
  topic: Topic;
  parallel: number;
  slots: WakeSlots;
  onTrouble: OnTrouble;
}): Promise<RabbitMqConsumer> {
  const { connection, topic, parallel, slots, onTrouble } = options;
  const declaration = queueOf(topic);
  let channel: Channel | undefined;
  let consumerTag = "";
  let reopening: NodeJS.Timeout | undefined;
  let silence: NodeJS.Timeout | undefined;
  let failing = false;
  let isReported = false;
  let stopped = false;

  async function open(): Promise<void> {
    reopening = channel = undefined;
    try {
      const fresh = await connection.acquire({ emitErrorsFromChannel: true });
      channel = fresh;
      fresh.on("error", (error) => lost(fresh, error));
      fresh.on("close", () => lost(fresh));
      fresh.on("basic.cancel", (_, error) => {
        lost(fresh, error);
        void fresh.close();
      });
      silence = setTimeout(() => report(new Error("the queue does not answer")), silenceMs);
      await fresh.queueDeclare(declaration);
      await fresh.basicQos({ prefetchCount: parallel });
      const consuming = await fresh.basicConsume({ queue: declaration.queue }, (message) => deliver(fresh, message));
      consumerTag = consuming.consumerTag;
      if (failing) slots.wakeSelf();
      failing = isReported = false;
      if (stopped) await fresh.close();
    } catch (error) {
      void channel?.close();
      lost(channel, error);
    } finally {
      clearTimeout(silence);
    }
  }

  function report(error: unknown): void {
    // The connection reports its own loss.
    if (!isReported && !stopped && connection.ready) {
      isReported = true;
      onTrouble(`Wake-ups for ${topic} cannot be received. Retrying.`, error);
    }
  }

  function lost(which: Channel | undefined, error?: unknown): void {
    if (stopped || which !== channel) return;
    if (error) report(error);
    failing = true;
    reopening ??= setTimeout(open, reopenMs);
  }

  function deliver(from: Channel, { deliveryTag }: AsyncMessage): void {
    // A lost channel has already returned its messages.
    const giveBack = () => from.active && from.basicNack({ deliveryTag, requeue: true });
    slots.offer({
      handled: () => from.active && from.basicAck({ deliveryTag }),
      failed: giveBack,
      passedOn: giveBack,
    });
  }

  async function abandon(): Promise<void> {
    stopped = true;
    clearTimeout(reopening);
    void slots.stop();
    if (channel) await within(answerWithinMs, channel.close()).catch(() => undefined);
  }

  await within(answerWithinMs, open()).catch(() => undefined);
  return {
    async stop() {
      stopped = true;
      clearTimeout(reopening);
      if (channel?.active) await within(answerWithinMs, channel.basicCancel(consumerTag)).catch(() => undefined);
      await slots.stop();
      await abandon();
    },
    abandon,
  };
}
