import type { IdpActionRecord } from "@gantry/sdk";

export type KindFilter = "all" | "read" | "write";

export interface ActionFilter {
  words: string;
  kind: KindFilter;
  /** Leave out what the token has no scope for. */
  allowedOnly: boolean;
}

export interface ActionGroup {
  name: string;
  actions: IdpActionRecord[];
}

/** What is left of the actions, by the object they are about, in the order of the service. */
export function groupedActions(actions: readonly IdpActionRecord[], filter: ActionFilter): ActionGroup[] {
  const words = filter.words.trim().toLowerCase().split(/\s+/);
  const fits = (action: IdpActionRecord) => {
    const text = `${action.name} ${action.group} ${action.description} ${action.path}`.toLowerCase();
    return (
      words.every((word) => text.includes(word)) &&
      (filter.kind === "all" || filter.kind === action.kind) &&
      !(filter.allowedOnly && action.allowed_by_token === false)
    );
  };
  const groups = Map.groupBy(actions.filter(fits), ({ group }) => group);
  return Array.from(groups, ([name, members]) => ({ name, actions: members }));
}

/** What an action does, and what it answers: the service tells both in one text. */
export function describedAction(description: string): { does: string; answers: string | undefined } {
  const at = description.indexOf(" Answer: ");
  if (at === -1) return { does: description, answers: undefined };
  return { does: description.slice(0, at), answers: description.slice(at + " Answer: ".length) };
}
