import { type ComponentType, createElement, use } from "react";

/** A part of the console that could not be loaded: the server is away, or has another build of the console by now. */
export class MissingPart extends Error {
  readonly tryAgain: () => Promise<unknown>;
  constructor(cause: unknown, tryAgain: () => Promise<unknown>) {
    super("This part of the console could not be loaded", { cause });
    this.tryAgain = tryAgain;
  }
}

const loads: (() => Promise<unknown>)[] = [];

/**
 * A page in a part of its own, which the router loads on the way to it. That of the router itself would reload the whole
 * console when a part is missing, and leave whoever is offline with nothing.
 */
export function lazyPage<Name extends string>(read: () => Promise<Record<Name, ComponentType>>, name: Name) {
  let part: Promise<void> | undefined;
  let page: ComponentType | undefined;
  const preload = (): Promise<void> => {
    part ??= read().then(
      (found) => {
        page = found[name];
      },
      (cause) => {
        // The next one who wants it tries anew.
        part = undefined;
        throw new MissingPart(cause, preload);
      },
    );
    return part;
  };
  loads.push(preload);
  const Page = () => {
    if (!page) use(preload());
    return page && createElement(page);
  };
  return Object.assign(Page, { preload });
}

/** Loads one part after the other while nothing else is to be done, so that a page opens at once, and also offline. */
export function loadPartsWhenIdle(): void {
  // Not every browser says when it is idle.
  const whenIdle = globalThis.requestIdleCallback ?? ((then: () => void) => setTimeout(then, 1_000));
  const loadFrom = (n: number) => {
    const load = loads[n];
    if (!load) return;
    whenIdle(() => {
      const next = () => loadFrom(n + 1);
      // One that is missing is told to whoever opens it.
      load().then(next, next);
    });
  };
  loadFrom(0);
}
