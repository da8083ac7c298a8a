import { createStore } from "../ui/store.ts";

/** Facts about the session and the connection that any API call can reveal. */
export type ServerEvent =
  | { kind: "reached" | "unreached" }
  /** `wasAction`: the call that found out changed something; it did not only read. */
  | { kind: "session-ended"; wasAction: boolean }
  /** Another user has signed in, in this browser. */
  | { kind: "user-changed"; username: string }
  /** The person is no longer a member. */
  | { kind: "team-left"; team: string };

export const serverEvents = createStore<ServerEvent>({ kind: "reached" });
