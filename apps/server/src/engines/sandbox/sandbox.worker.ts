import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule, RELEASE_SYNC } from "quickjs-emscripten";
import type { FromThread, Numbered } from "../../kernel/job-thread.ts";
import type { ProgramJob, ProgramLimits } from "./protocol.ts";
import { runProgram } from "./run-program.ts";
import type { SandboxResult } from "./sandbox.ts";

/**
 * Runs programs one after the other, in a thread that can be ended. Each gets an instance of the interpreter of its own,
 * with a memory of its own: a program that found a hole in the interpreter would find nobody else's there.
 */

const limits = workerData as ProgramLimits;
const pageBytes = 65_536;
const initialBytes = 16 * 1_048_576;
/** The interpreter's own needs, beside the program's. */
const spareBytes = 32 * 1_048_576;
/** What the interpreter says when it gives up is no news for the log. The library's types leave these two out. */
const silent: object = { print() {}, printErr() {} };
/** Node has it, Node's types do not. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>;
  Memory: new (pages: { initial: number; maximum: number }) => object;
};

/** Compiled once; the file belongs to a dependency of the library, so it is looked for from there. */
async function compile(): Promise<object> {
  const library = createRequire(createRequire(import.meta.url).resolve("quickjs-emscripten"));
  return WebAssembly.compile(await readFile(library.resolve("@jitl/quickjs-wasmfile-release-sync/wasm")));
}

const wasmModule = await compile();

function newInterpreter(): Promise<QuickJSWASMModule> {
  const wasmMemory = new WebAssembly.Memory({
    initial: initialBytes / pageBytes,
    maximum: Math.ceil((limits.memoryBytes + spareBytes) / pageBytes),
  });
  return newQuickJSWASMModuleFromVariant(
    newVariant(RELEASE_SYNC, { wasmModule, wasmMemory, emscriptenModule: silent }),
  );
}

const send = (message: FromThread<SandboxResult>) => parentPort?.postMessage(message);

parentPort?.on("message", async (job: Numbered<ProgramJob>) => {
  send({ id: job.id, result: runProgram(await newInterpreter(), job, limits) });
});
// The first program shall not pay for what is compiled when it is first used.
runProgram(await newInterpreter(), { code: "0" }, limits);
send({ ready: true });
