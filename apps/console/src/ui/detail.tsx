import type { ReactNode } from "react";

/** Use inside a `dl`. */
export function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-xs">{name}</dt>
      <dd className="mt-0.5 break-words">{children}</dd>
    </div>
  );
}
