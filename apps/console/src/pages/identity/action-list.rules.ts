import type { IdpActionRecord } from "@gantry/sdk";

export type KindFilter = "all" | "read" | "write";

export interface ActionFilter {
  text: string;
  kind: KindFilter;
  /** Hide actions that the token has no scope for. */
  allowedOnly: boolean;
}

export interface ActionGroup {
  name: string;
  actions: IdpActionRecord[];
}

/** Matching actions by group, in the order of the API. */
export function groupedActions(actions: readonly IdpActionRecord[], filter: ActionFilter): ActionGroup[] {
  const terms = filter.text.trim().toLowerCase().split(/\s+/);
  const fits = (action: IdpActionRecord) => {
    const text = `${action.name} ${action.group} ${action.description} ${action.path}`.toLowerCase();
    return (
      terms.every((term) => text.includes(term)) &&
      (filter.kind === "all" || filter.kind === action.kind) &&
      !(filter.allowedOnly && action.allowed_by_token === false)
    );
  };
  const groups = Map.groupBy(actions.filter(fits), ({ group }) => group);
  return Array.from(groups, ([name, members]) => ({ name, actions: members }));
}

/** The API puts the summary and the response of an action into one text. */
export function describedAction(description: string): { summary: string; response: string | undefined } {
  const at = description.indexOf(" Answer: ");
  if (at === -1) return { summary: description, response: undefined };
  return { summary: description.slice(0, at), response: description.slice(at + " Answer: ".length) };
}
