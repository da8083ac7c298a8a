import { type ReactNode, useEffect } from "react";
import { showTitle } from "./document-title.ts";

interface PageProps {
  title: string;
  /** One sentence: the purpose of the page. */
  lead?: ReactNode;
  actions?: ReactNode;
  /** For pages with several columns. */
  wide?: boolean;
  children: ReactNode;
}

export function Page({ title, lead, actions, wide = false, children }: PageProps) {
  useEffect(() => showTitle(title), [title]);
  return (
    <div className={`mx-auto flex ${wide ? "max-w-[100rem]" : "max-w-6xl"} flex-col gap-5 px-4 py-6 md:px-8`}>
      <header>
        {/* As high as a button: the title does not move without them. */}
        <div className="flex min-h-8 flex-wrap items-center justify-between gap-x-3 gap-y-2">
          <h1 className="min-w-0 truncate font-semibold text-xl tracking-tight">{title}</h1>
          {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </div>
        {lead && <p className="mt-1 max-w-prose text-muted">{lead}</p>}
      </header>
      {children}
    </div>
  );
}

interface PanelProps {
  title?: ReactNode;
  actions?: ReactNode;
  /** No padding, for tables. */
  flush?: boolean;
  className?: string;
  children: ReactNode;
}

export function Panel({ title, actions, flush = false, className = "", children }: PanelProps) {
  return (
    <section className={`min-w-0 rounded-lg border border-line bg-panel ${className}`}>
      {(title || actions) && (
        <div className="flex min-h-12 flex-wrap items-center justify-between gap-2 border-line border-b px-4 py-2">
          <h2 className="font-semibold">{title}</h2>
          {actions}
        </div>
      )}
      {/* An error in place of a table still needs a margin. */}
      <div className={flush ? "*:[[role=alert]]:m-4" : "p-4"}>{children}</div>
    </section>
  );
}
