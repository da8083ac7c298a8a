import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";

interface ToolProviderProps {
  name: string;
  badge?: ReactNode;
  /** For example "2 of 7". */
  count: string;
  startsOpen?: boolean;
  /** A search opens every provider. */
  isSearched: boolean;
  children: ReactNode;
}

/** Tools from one source, collapsed. Its content is rendered, and loaded, once it is open. */
export function ToolProvider({ name, badge, count, startsOpen = false, isSearched, children }: ToolProviderProps) {
  const [isOpen, setOpen] = useState(startsOpen);
  const isShown = isOpen || isSearched;
  return (
    <section className="border-line border-t">
      <h3>
        <button
          type="button"
          aria-expanded={isShown}
          className="flex min-h-10 w-full items-center gap-2 px-3 py-1.5 text-left -outline-offset-2 hover:bg-sunken/60"
          onClick={() => setOpen(!isOpen)}
        >
          <ChevronRight
            size={14}
            aria-hidden
            className={`shrink-0 text-muted transition-transform ${isShown ? "rotate-90" : ""}`}
          />
          <span className="min-w-0 truncate font-medium">{name}</span>
          {badge}
          <span className="ml-auto shrink-0 text-muted text-xs tabular-nums">{count}</span>
        </button>
      </h3>
      {isShown && <div className="max-h-96 overflow-y-auto pb-1.5">{children}</div>}
    </section>
  );
}
