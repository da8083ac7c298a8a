import type { RequestListener } from "node:http";
import type { Config } from "../config/config.ts";
import type { OpenedDatabase } from "../engines/database/index.ts";
import type { StillThere } from "./stopping.rules.ts";

/** What the supervisor of several processes has for each of them. */
export interface SharedHome {
  /** The settings of the whole server, of which each process has its share. */
  config: Config;
  /** The embedded database, which the supervisor runs. Undefined with an external one. */
  database: OpenedDatabase | undefined;
  /** No node of an earlier start is alive. */
  isFirst: boolean;
  /** Nodes whose process has ended. */
  gone: readonly string[];
  /** The metrics of all processes. */
  metrics(): Promise<string>;
}

export interface Gantry {
  nodeId: string;
  listener: RequestListener;
  /** Rows of the access table that have a route. */
  accessRows: ReadonlySet<string>;
  /** Why predictions cannot be served now; undefined if they can. */
  notReady(): Promise<string | undefined>;
  /** What this start has found on this machine, as lines for the operator. */
  found: readonly string[];
  /** The admin's API key, if this start created it. */
  firstKey: string | null;
  /** The admin's sign-in link, if this start created the admin. */
  firstSignInUrl: ((base: string) => string) | null;
  drain(milliseconds: number): Promise<void>;
  close(): Promise<void>;
  /** The metrics of this process. */
  metrics(): Promise<string>;
  /** Other nodes take over the work of a node whose process has ended, without waiting for its heartbeat. */
  forgetNodes(nodeIds: readonly string[]): Promise<void>;
  stillThere(): Omit<StillThere, "answers">;
}
