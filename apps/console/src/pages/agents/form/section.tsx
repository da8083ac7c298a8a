import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";

interface SectionProps {
  /** The anchor. */
  id: string;
  title: string;
  /** What is set, for the closed section. */
  summary?: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  startsOpen?: boolean;
  children: ReactNode;
}

/** The browser keeps whether it is open; the form opens it for an error inside. */
export function Section({ id, title, summary, hint, error, startsOpen = false, children }: SectionProps) {
  // Fixed at first: a later value would override what the user opened or closed.
  const [isOpen] = useState(startsOpen);
  return (
    <details id={id} open={isOpen} className="group/section min-w-0 scroll-mt-4 rounded-lg border border-line bg-panel">
      <summary className="flex min-h-12 cursor-pointer list-none items-center gap-2 rounded-lg px-4 py-2 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          size={14}
          aria-hidden
          className="shrink-0 text-muted transition-transform group-open/section:rotate-90"
        />
        <h2 className="shrink-0 font-semibold">{title}</h2>
        {error !== undefined && <span className="size-2 shrink-0 rounded-full bg-bad" title="Has errors" />}
        <span className="min-w-0 flex-1 truncate text-right text-muted group-open/section:invisible">{summary}</span>
      </summary>
      <div className="flex flex-col gap-4 border-line border-t p-4">
        {hint && <p className="text-muted">{hint}</p>}
        {error !== undefined && (
          <p role="alert" className="text-bad">
            {error}
          </p>
        )}
        {children}
      </div>
    </details>
  );
}
