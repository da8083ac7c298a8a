import type { Context, Typed } from "./command.ts";
import { exitCodes, wrongArguments } from "./failure.ts";
import { createOutput } from "./output.ts";
import { onSignals } from "./signals.ts";
import { findTarget } from "./target.ts";

/** `has` says whether the row has an option: not every command takes all options that choose a server. */
export function createContext(typed: Typed, has: (option: string) => boolean): Context {
  const out = createOutput();
  const given = (option: string): string | undefined => (has(option) ? typed.text(option) : undefined);
  let interrupted: AbortSignal | undefined;

  const context: Context = {
    ...typed,
    out,
    get signal() {
      interrupted ??= interruptSignal();
      return interrupted;
    },
    // Commands about providers have `--url` for the provider, and `--server` for Gantry.
    target: async () =>
      findTarget(
        {
          url: given(has("server") ? "server" : "url"),
          key: given("key"),
          profile: given("profile"),
          team: given("team"),
        },
        out.note,
      ),
    async client() {
      const { createClient } = await import("@gantry/sdk");
      const target = await context.target();
      try {
        return createClient(target);
      } catch (error) {
        throw wrongArguments((error as Error).message);
      }
    },
  };
  return context;
}

/** The first Ctrl+C asks the command to stop, the second ends it. */
function interruptSignal(): AbortSignal {
  const stop = new AbortController();
  onSignals(["SIGINT", "SIGTERM"], () => {
    if (stop.signal.aborted) process.exit(exitCodes.interrupted);
    stop.abort();
  });
  return stop.signal;
}
