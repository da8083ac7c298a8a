/** Work that a stopping server waits for. */
export interface StillThere {
  predictions: number;
  runs: number;
  answers: number;
  queries: number;
  /** The part that is closing. */
  closing: string | undefined;
}

export function waitedFor({ predictions, runs, answers, queries, closing }: StillThere): string | undefined {
  const counted = (count: number, one: string, many: string) =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  const all = [
    ...counted(predictions, "prediction", "predictions"),
    ...counted(runs, "run", "runs"),
    ...counted(answers, "open response", "open responses"),
    ...counted(queries, "database query", "database queries"),
    ...(closing === undefined ? [] : [`closing ${closing}`]),
  ];
  return all.length === 0 ? undefined : all.join(", ");
}
