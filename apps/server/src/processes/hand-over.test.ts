import { Socket } from "node:net";
import { expect, test } from "vitest";
import type { Child } from "./child.ts";
import { createHandOver } from "./hand-over.ts";

/** Its channel is closed, but its end is not known yet. */
function leavingChild(number: number, state: Child["state"]): Child {
  return {
    number,
    pid: 0,
    state,
    isReachable: false,
    nodeId: undefined,
    send: (_message, _socket, onFailure) => onFailure?.(),
    kill: () => undefined,
    ended: new Promise(() => undefined),
  };
}

test.each(["serving", "stopping"] as const)(
  "a connection that only leaving processes could take is kept (%s)",
  (state) => {
    const kept: Socket[] = [];
    const handOver = createHandOver(
      () => [leavingChild(1, state), leavingChild(2, state)],
      (socket) => kept.push(socket),
    );
    const socket = new Socket();
    handOver.give(socket);
    expect(kept).toEqual([socket]);
  },
);
