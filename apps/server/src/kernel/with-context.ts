type Bound<F> = {
  [Name in keyof F]: F[Name] extends (context: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Functions without their first argument: a feature lists its use cases once and passes their context here. */
export function withContext<Context, F extends Record<string, (context: Context, ...rest: never[]) => unknown>>(
  context: Context,
  functions: F,
): Bound<F> {
  const bound = Object.entries(functions).map(([name, call]) => [name, call.bind(undefined, context)]);
  return Object.fromEntries(bound);
}
