import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule, RELEASE_SYNC } from "quickjs-emscripten";
import type { FromThread, Numbered } from "../../kernel/job-thread.ts";
import type { ProgramJob, ProgramLimits } from "./protocol.ts";
import { runProgram } from "./run-program.ts";
import type { SandboxResult } from "./sandbox.ts";

/**
 * Runs programs one after the other. Each has its own interpreter with its own memory, so that an exploit of the
 * interpreter does not reach the data of another program.
 */

const limits = workerData as ProgramLimits;
const pageBytes = 65_536;
const initialBytes = 16 * 1_048_576;
/** For the interpreter itself. */
const spareBytes = 32 * 1_048_576;
/** Keeps messages of the interpreter out of the log. The library's types lack these two functions. */
const silent: object = { print() {}, printErr() {} };
/** Missing in Node's types. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>;
  Memory: new (pages: { initial: number; maximum: number }) => object;
};

/** The file belongs to a dependency of the library, so it is resolved from there. */
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
// Warm up, so that the first program does not pay for compilation.
runProgram(await newInterpreter(), { code: "0" }, limits);
send({ ready: true });
