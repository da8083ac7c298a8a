import { MessageChannel } from "node:worker_threads";
import { type FilesChannel, type FilesReply, type FilesRequest, filesLimits } from "./protocol.ts";
import { FileRefused, type SandboxFiles } from "./sandbox.ts";

export interface ServedFiles {
  channel: FilesChannel;
  /** A failure that the program must not see. */
  failure(): unknown;
  close(): void;
}

/** Answers the requests of one program, within bounds. */
export function serveFiles(files: SandboxFiles): ServedFiles {
  const { port1: own, port2: port } = new MessageChannel();
  const flag = new Int32Array(new SharedArrayBuffer(4));
  let calls = 0;
  let leftBytes = filesLimits.readAll;
  let failure: unknown;

  async function answer({ action, path }: FilesRequest): Promise<FilesReply> {
    if (++calls > filesLimits.calls) throw new FileRefused(`A program can use files ${filesLimits.calls} times`);
    switch (action) {
      case "write":
        await files.checkWrite(path);
        return { bytes: new Uint8Array() };
      case "list":
        return { bytes: Buffer.from(JSON.stringify(await files.list(path))) };
      default: {
        const bytes = await files.read(path, Math.min(filesLimits.readFile, leftBytes));
        leftBytes -= bytes.length;
        return { bytes };
      }
    }
  }

  own.on("message", async (request: FilesRequest) => {
    const reply = await answer(request).catch((error: unknown): FilesReply => {
      if (error instanceof FileRefused) return { error: error.message };
      failure ??= error;
      return { error: "The file cannot be used now" };
    });
    own.postMessage(reply);
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  });
  return { channel: { port, flag }, failure: () => failure, close: () => own.close() };
}
