import type { ServerContext } from "@modelcontextprotocol/server";

/** Tokens of so long go into one notification. */
const gatherMs = 250;
/** Clients that give a call some time let each notification begin it anew. */
const signOfLifeMs = 10_000;

export interface Progress {
  text(piece: string): void;
  /** On a line of its own. */
  note(message: string): void;
  stop(): void;
}

const silent: Progress = { text: () => {}, note: () => {}, stop: () => {} };

/** Tells a client that asked for it how its call goes on: what a model says, and otherwise that it still runs. */
export function tellProgress({ mcpReq }: ServerContext): Progress {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return silent;
  const startedAt = performance.now();
  let told = 0;
  let pending = "";
  let timer: NodeJS.Timeout | undefined;

  function tell(message: string): void {
    const params = { progressToken, progress: ++told, message };
    // A client that left is told nothing more; that it left is noticed elsewhere.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  }

  function flush(): void {
    timer = undefined;
    const text = pending;
    pending = "";
    tell(text);
  }

  const signs = setInterval(() => {
    if (pending === "") tell(`Running for ${Math.round((performance.now() - startedAt) / 1000)} seconds`);
  }, signOfLifeMs);

  function text(piece: string): void {
    pending += piece;
    timer ??= setTimeout(flush, gatherMs);
  }

  return {
    text,
    note: (message) => text(pending === "" ? message : `\n${message}`),
    stop() {
      clearInterval(signs);
      clearTimeout(timer);
      if (pending !== "") flush();
    },
  };
}
