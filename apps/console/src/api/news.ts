/** What a call finds out about the session and the server, beside its own answer. */
export type News =
  | { kind: "reached" | "unreached" }
  /** Whoever was signed in is so no longer. `wasAction`: it was found out by doing something, not by reading. */
  | { kind: "ended"; wasAction: boolean }
  /** The session is another's by now. */
  | { kind: "other"; username: string };

const listeners = new Set<(news: News) => void>();

export function onNews(listener: (news: News) => void): void {
  listeners.add(listener);
}

export function tellNews(news: News): void {
  for (const listener of listeners) listener(news);
}
