import type { ReactNode } from "react";

/** Use inside a `dl`. */
export function Figure({ name, value, note }: { name: string; value: ReactNode; note?: ReactNode }) {
  return (
    <div className="min-w-0 rounded-lg border border-line bg-panel p-4">
      <dt className="text-muted text-xs">{name}</dt>
      <dd className="mt-1 truncate font-semibold text-xl tabular-nums">{value}</dd>
      {note && <dd className="mt-1 text-muted text-xs">{note}</dd>}
    </div>
  );
}
