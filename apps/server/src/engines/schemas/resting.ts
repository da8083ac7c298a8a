const mostNames = 1000;

/** Names that are remembered for so long after they were last added. */
export function createResting(restMs: number) {
  const until = new Map<string, number>();
  return {
    has: (name: string) => (until.get(name) ?? 0) > performance.now(),
    add(name: string): void {
      const [oldest] = until.keys();
      until.delete(name);
      if (until.size >= mostNames && oldest !== undefined) until.delete(oldest);
      until.set(name, performance.now() + restMs);
    },
  };
}
