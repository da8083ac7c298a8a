/** A promise asks to wait. Most fragments need none, and a promise for each would cost more than the fragment. */
export type Pause = void | Promise<void>;

export function after(pause: Pause, next: () => Pause): Pause {
  return pause ? pause.then(next) : next();
}

export function inOrder<T>(items: readonly T[], take: (item: T) => Pause, from = 0): Pause {
  for (let i = from; i < items.length; i++) {
    const pause = take(items[i] as T);
    if (pause) return pause.then(() => inOrder(items, take, i + 1));
  }
}
