import { fault } from "../../../kernel/errors.ts";

/** Hashing a password takes 32 MB and a thread for some tenths of a second. */
const parallel = 2;
const mostWaiting = 32;

export interface PasswordHasher {
  /** Waits for a slot. Throws `service_unavailable` if too many wait already. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Bounds the memory and the threads that a flood of sign-ins can take. */
export function createPasswordHasher(): PasswordHasher {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function enter(): Promise<void> {
    if (running < parallel) {
      running += 1;
      return;
    }
    if (waiting.length >= mostWaiting) {
      throw fault("service_unavailable", "Too many people are signing in. Try again in a few seconds.", {
        retryAfterSeconds: 5,
      });
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function exit(): void {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }

  return {
    async run(work) {
      await enter();
      try {
        return await work();
      } finally {
        exit();
      }
    },
  };
}
