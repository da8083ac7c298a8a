import { receiveMessageOnPort } from "node:worker_threads";
import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten";
import { type FilesChannel, type FilesReply, type FilesRequest, filesLimits } from "./protocol.ts";
import type { FileWrite } from "./sandbox.ts";

/** The files of a program, in its thread. Each request sleeps until the main thread has answered. */
export class GuestFiles {
  readonly #channel: FilesChannel;
  readonly #written = new Map<string, FileWrite>();

  constructor(channel: FilesChannel) {
    this.#channel = channel;
  }

  get writes(): readonly FileWrite[] {
    return [...this.#written.values()];
  }

  /** The function `ask` of the prelude. What it throws, the program can catch. */
  functionIn(context: QuickJSContext): QuickJSHandle {
    return context.newFunction("ask", (action, path, content) => {
      const at = context.getString(path);
      switch (context.getString(action)) {
        case "readText":
          return context.newString(textOf(this.#read(at)));
        case "readBytes":
          return context.newArrayBuffer(exactBuffer(this.#read(at)));
        case "list":
          return context.newString(textOf(this.#ask({ action: "list", path: at })));
        default:
          this.#write(at, contentOf(context, content));
          return context.undefined;
      }
    });
  }

  #read(path: string): Uint8Array {
    return this.#written.get(path)?.bytes ?? this.#ask({ action: "read", path });
  }

  #write(path: string, content: Omit<FileWrite, "path">): void {
    let total = content.bytes.length;
    for (const [other, { bytes }] of this.#written) if (other !== path) total += bytes.length;
    if (total > filesLimits.writtenAll)
      throw new Error(`A program can write ${filesLimits.writtenAll / 1_048_576} MB in all`);
    if (!this.#written.has(path) && this.#written.size >= filesLimits.writtenFiles) {
      throw new Error(`A program can write ${filesLimits.writtenFiles} files`);
    }
    this.#ask({ action: "write", path });
    this.#written.set(path, { path, ...content });
  }

  #ask(request: FilesRequest): Uint8Array {
    const { port, flag } = this.#channel;
    Atomics.store(flag, 0, 0);
    port.postMessage(request);
    Atomics.wait(flag, 0, 0);
    const reply: FilesReply | undefined = receiveMessageOnPort(port)?.message;
    if (!reply || "error" in reply) throw new Error(reply?.error ?? "The file cannot be used now");
    return reply.bytes;
  }
}

function contentOf(context: QuickJSContext, content: QuickJSHandle | undefined): Omit<FileWrite, "path"> {
  if (content && context.typeof(content) === "string") {
    return { bytes: Buffer.from(context.getString(content)), isText: true };
  }
  if (!content) throw new Error("The content is missing");
  const buffer = context.getArrayBuffer(content);
  try {
    // A copy: the memory belongs to the program.
    return { bytes: Uint8Array.from(buffer.value), isText: false };
  } finally {
    buffer.dispose();
  }
}

/** Text that crosses ends at a NUL. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll("\0", "\uFFFD");
}

function exactBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
