import type { Gzip } from "node:zlib";

/** The least that a client must take of an archive, before compression, while the server waits for it. */
interface Pace {
  bytesPerSecond: number;
  /** Over this time of waiting. */
  windowMs: number;
}

/** A slower client must not keep others from their export. */
const leastPace: Pace = { bytesPerSecond: 16_000, windowMs: 60_000 };

interface Client {
  /** Throws if the client has left. */
  check(): void;
  /** Resolves once the client can take more. Rejects if it has left or is too slow. */
  write(bytes: Uint8Array): Promise<void>;
}

/** The reader of a compressed stream. Time in which the server itself prepares bytes does not count. */
export function clientOf(gzip: Gzip, { bytesPerSecond, windowMs }: Pace = leastPace): Client {
  let leftMs = windowMs;
  let takenBefore = 0;

  function check(): void {
    if (gzip.destroyed) throw left();
  }

  function isTooSlow(): boolean {
    const taken = gzip.bytesWritten - takenBefore;
    [takenBefore, leftMs] = [gzip.bytesWritten, windowMs];
    return taken < (bytesPerSecond * windowMs) / 1000;
  }

  function drained(): Promise<void> {
    return new Promise((resolve, reject) => {
      let since = performance.now();
      const onWindow = (): void => {
        if (isTooSlow()) done(tooSlow());
        else {
          since = performance.now();
          timer = setTimeout(onWindow, leftMs);
        }
      };
      const onDrain = () => done();
      const onClose = () => done(left());
      const done = (error?: Error) => {
        clearTimeout(timer);
        leftMs = Math.max(1, leftMs - (performance.now() - since));
        gzip.off("drain", onDrain).off("close", onClose);
        if (error) reject(error);
        else resolve();
      };
      let timer = setTimeout(onWindow, leftMs);
      gzip.on("drain", onDrain).on("close", onClose);
    });
  }

  return {
    check,
    async write(bytes) {
      check();
      if (!gzip.write(bytes)) await drained();
    },
  };

  function tooSlow(): Error {
    return new Error(
      `The client took less than ${bytesPerSecond} bytes a second in ${windowMs / 1000} s of waiting for it`,
    );
  }
}

function left(): Error {
  return new Error("The client has left");
}
