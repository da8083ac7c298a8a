import { type ComponentType, createElement, use } from "react";

/** The server cannot be reached, or serves a newer build. */
export class MissingChunk extends Error {
  readonly tryAgain: () => Promise<unknown>;
  constructor(cause: unknown, tryAgain: () => Promise<unknown>) {
    super("This page could not be loaded", { cause });
    this.tryAgain = tryAgain;
  }
}

const loads: (() => Promise<unknown>)[] = [];

/**
 * A page in its own chunk. The router's own lazy component reloads the whole console when a chunk is missing, which
 * leaves an offline user with an empty page.
 */
export function lazyPage<Name extends string>(read: () => Promise<Record<Name, ComponentType>>, name: Name) {
  let loading: Promise<void> | undefined;
  let page: ComponentType | undefined;
  const preload = (): Promise<void> => {
    loading ??= read().then(
      (found) => {
        page = found[name];
      },
      (cause) => {
        // The next visit retries.
        loading = undefined;
        throw new MissingChunk(cause, preload);
      },
    );
    return loading;
  };
  loads.push(preload);
  const Page = () => {
    if (!page) use(preload());
    return page && createElement(page);
  };
  return Object.assign(Page, { preload });
}

/** Loads chunk after chunk while the browser is idle, so that pages open immediately, even offline. */
export function preloadPagesWhenIdle(): void {
  // Safari has no requestIdleCallback.
  const whenIdle = globalThis.requestIdleCallback ?? ((then: () => void) => setTimeout(then, 1_000));
  const loadFrom = (n: number) => {
    const load = loads[n];
    if (!load) return;
    whenIdle(() => {
      const next = () => loadFrom(n + 1);
      // A failed chunk is reported when its page is opened.
      load().then(next, next);
    });
  };
  loadFrom(0);
}
