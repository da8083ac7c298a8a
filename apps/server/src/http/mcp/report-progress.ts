import type { ServerContext } from "@modelcontextprotocol/server";

/** Tokens of this period go into one notification. */
const gatherMs = 250;
/** Clients with a timeout restart it with each notification. */
const heartbeatMs = 10_000;

export interface Progress {
  text(piece: string): void;
  /** On its own line. */
  note(message: string): void;
  stop(): void;
}

const silent: Progress = { text: () => {}, note: () => {}, stop: () => {} };

/** Sends progress to a client that asked for it: the text of the model, or that the call is still running. */
export function reportProgress({ mcpReq }: ServerContext): Progress {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return silent;
  const startedAt = performance.now();
  let sent = 0;
  let pending = "";
  let timer: NodeJS.Timeout | undefined;

  function send(message: string): void {
    const params = { progressToken, progress: ++sent, message };
    // The disconnect is handled elsewhere.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  }

  function flush(): void {
    timer = undefined;
    const text = pending;
    pending = "";
    send(text);
  }

  const heartbeat = setInterval(() => {
    if (pending === "") send(`Running for ${Math.round((performance.now() - startedAt) / 1000)} seconds`);
  }, heartbeatMs);

  function text(piece: string): void {
    pending += piece;
    timer ??= setTimeout(flush, gatherMs);
  }

  return {
    text,
    note: (message) => text(pending === "" ? message : `\n${message}`),
    stop() {
      clearInterval(heartbeat);
      clearTimeout(timer);
      if (pending !== "") flush();
    },
  };
}
