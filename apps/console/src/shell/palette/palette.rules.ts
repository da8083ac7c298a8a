/** Something the palette can open. */
export interface PaletteEntry {
  /** Unique among the shown entries. */
  key: string;
  label: string;
  /** Shown beside the label, such as the id of a model. */
  note?: string;
  /** Path within the console. */
  path: string;
}

export interface PaletteGroup {
  name: string;
  entries: readonly PaletteEntry[];
}

const perGroup = 6;

interface IdRow {
  name: string;
  path(id: string): string;
}

/** Ids that have a page, by prefix. */
const idRows: Readonly<Record<string, IdRow>> = {
  pred: { name: "prediction", path: (id) => `/predictions/${id}` },
  batch: { name: "batch", path: (id) => `/batches/${id}` },
  run: { name: "run", path: (id) => `/runs/${id}` },
  thr: { name: "runs of the thread", path: (id) => `/runs?thread=${id}` },
  agt: { name: "agent", path: (id) => `/agents/${id}` },
  mcp: { name: "tool server", path: (id) => `/tool-servers/${id}` },
  drv: { name: "drive", path: (id) => `/drives/${id}` },
  key: { name: "API key", path: (id) => `/keys?key=${id}` },
  file: { name: "file", path: (id) => `/files?file=${id}` },
  sch: { name: "schedules", path: () => "/automations" },
  trg: { name: "triggers", path: () => "/automations?tab=triggers" },
  dlv: { name: "webhook delivery", path: (id) => `/webhooks/${id}` },
};

/** People paste ids with quotes, commas and white space around them. */
const idPattern = /^["'`\s]*([a-z]+)_([0-9a-z]{26})["'`,;.\s]*$/i;

/** The page of a pasted id. */
export function entryOfId(text: string): PaletteEntry | undefined {
  const [, prefix = "", digits = ""] = idPattern.exec(text) ?? [];
  const row = idRows[prefix.toLowerCase()];
  if (!row) return undefined;
  const id = `${prefix}_${digits}`.toLowerCase();
  return { key: id, label: `Open ${row.name}`, note: id, path: row.path(id) };
}

/** Entries that contain every word of the text; those whose label starts with it come first. */
export function matching(entries: readonly PaletteEntry[], text: string): readonly PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter(({ label, note = "" }) => {
    const content = `${label} ${note}`.toLowerCase();
    return words.every((word) => content.includes(word));
  });
  const starts = ({ label }: PaletteEntry) => (label.toLowerCase().startsWith(text.trim().toLowerCase()) ? 0 : 1);
  return found.sort((a, b) => starts(a) - starts(b)).slice(0, perGroup);
}

/** The entry that an arrow key moves to, from the last to the first and back. */
export function movedTo(at: number, key: string, length: number): number | undefined {
  if (length === 0) return undefined;
  const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1 };
  const next = moves[key];
  return next === undefined ? undefined : (next + length) % length;
}
