/** Ids of files that are selected. Only files that the page shows count, so that nothing unseen is deleted. */
export type Selection = ReadonlySet<string>;

export function toggled(selection: Selection, id: string): Selection {
  const next = new Set(selection);
  if (!next.delete(id)) next.add(id);
  return next;
}

export const selectedOf = <Row extends { id: string }>(rows: readonly Row[], selection: Selection): Row[] =>
  rows.filter(({ id }) => selection.has(id));

/** "3 files deleted", "2 of 3 files deleted". */
export function deletedText(deleted: number, wanted: number): string {
  if (deleted === wanted) return deleted === 1 ? "1 file deleted" : `${deleted} files deleted`;
  return `${deleted} of ${wanted} files deleted`;
}
