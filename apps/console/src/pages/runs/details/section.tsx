import type { ReactNode } from "react";

/** A part of the details of a step. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <h3 className="font-medium text-muted text-xs">{title}</h3>
      {children}
    </section>
  );
}
