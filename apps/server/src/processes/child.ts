import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { passLines } from "./pass-lines.ts";
import type { FromServer, StartMessage, ToServer } from "./protocol.ts";

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 *     starting ──► serving ──► stopping ──► ended
 *         └────────────┴────────────────────►
 */
export interface Child {
  readonly number: number;
  readonly pid: number;
  state: "starting" | "serving" | "stopping" | "ended";
  /** False a moment before the end of the process is known. */
  readonly isReachable: boolean;
  /** Known once it serves. */
  nodeId: string | undefined;
  /** `onFailure`: it ended before the message arrived. */
  send(message: ToServer, socket?: Socket, onFailure?: () => void): void;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Exit>;
}

/** For glibc, which otherwise keeps freed memory. */
const allocator = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "262144", MALLOC_TRIM_THRESHOLD_: "262144" };

/** Starts a server process. Its output, in whole lines, becomes ours. */
export function startChild(start: StartMessage, onMessage: (child: Child, message: FromServer) => void): Child {
  const stdio: ("ignore" | "pipe" | "ipc")[] = ["ignore", "pipe", "pipe", "ipc"];
  const env = { ...allocator, ...process.env };
  const ofChild: ChildProcess = fork(new URL("./server.process.ts", import.meta.url), { stdio, env });
  if (ofChild.stdout) passLines(ofChild.stdout, process.stdout);
  if (ofChild.stderr) passLines(ofChild.stderr, process.stderr);
  const child: Child = {
    number: start.number,
    pid: ofChild.pid ?? 0,
    state: "starting",
    nodeId: undefined,
    get isReachable() {
      return ofChild.connected;
    },
    send(message, socket, onFailure = () => undefined) {
      if (!ofChild.connected) return onFailure();
      ofChild.send(message, socket, { keepOpen: true }, (error) => {
        if (error) onFailure();
      });
    },
    kill: (signal) => void ofChild.kill(signal),
    ended: new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null) => {
        child.state = "ended";
        resolve({ code, signal });
      };
      // Not "close": a child of the child may hold its output open.
      ofChild.once("exit", end);
      ofChild.on("error", () => {
        if (ofChild.pid === undefined) end(1, null);
      });
    }),
  };
  ofChild.on("message", (message) => onMessage(child, message as FromServer));
  child.send(start);
  return child;
}
