/** What a server that stops has still to see the end of. */
export interface StillThere {
  predictions: number;
  runs: number;
  /** On their way to clients. */
  answers: number;
  /** That run in the database, or wait for it. */
  queries: number;
  /** The part of the server that is being closed. */
  closing: string | undefined;
}

/** In words; undefined: nothing that has a name. */
export function waitedFor({ predictions, runs, answers, queries, closing }: StillThere): string | undefined {
  const counted = (count: number, one: string, many: string) =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  const all = [
    ...counted(predictions, "prediction", "predictions"),
    ...counted(runs, "run", "runs"),
    ...counted(answers, "open answer", "open answers"),
    ...counted(queries, "query of the database", "queries of the database"),
    ...(closing === undefined ? [] : [`the end of ${closing}`]),
  ];
  return all.length === 0 ? undefined : all.join(", ");
}
