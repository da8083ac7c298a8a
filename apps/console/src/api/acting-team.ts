const storageKey = "gantry-team";
/** An address alone must not switch: the link of a stranger could. */
const nextKey = "gantry-next-team";
const parameter = "act-for";

let team: string | undefined;

/** The team for which this page acts, from its load on. Each tab chooses for itself. */
export const actingTeam = (): string | undefined => team;

export const stopActingAtNextLoad = (): void => sessionStorage.removeItem(storageKey);

export function stopActing(): void {
  team = undefined;
  stopActingAtNextLoad();
}

/** Call once, before anything reads the address. */
export function startActing(): void {
  const address = new URL(location.href);
  const wanted = address.searchParams.get(parameter);
  if (wanted !== null) {
    if (wanted === sessionStorage.getItem(nextKey)) sessionStorage.setItem(storageKey, wanted);
    address.searchParams.delete(parameter);
    history.replaceState(history.state, "", address);
  }
  sessionStorage.removeItem(nextKey);
  team = sessionStorage.getItem(storageKey) || undefined;
  if (team === undefined) sessionStorage.removeItem(storageKey);
}

/**
 * Starts over, so that nothing of one owner stays on a page of another. The new page switches: this one goes on for its
 * owner if its unsaved changes keep the person here.
 */
export function switchTo(next: string | undefined, path: string = import.meta.env.BASE_URL): void {
  const address = new URL(path, location.href);
  address.searchParams.set(parameter, next ?? "");
  sessionStorage.setItem(nextKey, next ?? "");
  location.assign(address);
}
