/** Messages from the supervisor to a server process. */
export type ToServer =
  | StartMessage
  /** With a socket, or without one if the client has left. */
  | { kind: "connection"; id: number }
  /** PostgreSQL runs again, on this port. */
  | { kind: "database"; port: number }
  | { kind: "disk full" }
  /** The process of this node has ended. */
  | { kind: "gone"; nodeId: string }
  | { kind: "report"; id: number }
  /** The metrics of all processes. */
  | { kind: "metrics"; id: number; text: string }
  | { kind: "stop"; signal: string };

export interface StartMessage {
  kind: "start";
  /** From 1. A process that replaces another has its number. */
  number: number;
  of: number;
  /** The port that the supervisor listens on. */
  port: number;
  /** Set if the supervisor runs the embedded PostgreSQL. Contains its password. */
  databaseUrl: string | undefined;
  /** Nodes of earlier starts are dead. */
  isFirst: boolean;
  /** Nodes whose process has ended. */
  gone: readonly string[];
  isTerminal: boolean;
}

/** Messages from a server process to the supervisor. */
export type FromServer =
  | { kind: "ready"; nodeId: string; lines: readonly string[] }
  /** The connection belongs to the server process now. Sent before its first byte is read. */
  | { kind: "taken"; id: number }
  /** New connections must go to other processes. */
  | { kind: "stopping" }
  | { kind: "report"; id: number; text: string }
  /** A client asks for the metrics of all processes. */
  | { kind: "metrics"; id: number };

/** The part of a limit that one of several processes has. All parts together are the limit. */
export function shareOf(limit: number, number: number, of: number): number {
  return Math.floor(limit / of) + (number <= limit % of ? 1 : 0);
}
