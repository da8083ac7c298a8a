import { X } from "lucide-react";
import { dismiss, type Tone, useToasts } from "./toast.ts";

const edges: Record<Tone, string> = {
  plain: "border-l-strong-line",
  good: "border-l-good",
  bad: "border-l-bad",
  warn: "border-l-warn",
  info: "border-l-info",
};

/**
 * At the left edge of the page's content, above a sticky bar: buttons are at the right. Clicks reach whatever a toast
 * covers.
 */
export function Toasts() {
  return (
    <output
      className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col gap-2 in-[body:has([data-sticky-bar])]:bottom-18 md:right-auto md:left-60 md:w-80"
      aria-live="polite"
    >
      {useToasts().map(({ id, text, tone }) => (
        <div
          key={id}
          className={`flex items-start gap-2 rounded-md border border-line border-l-4 bg-panel p-3 shadow-lg ${edges[tone]}`}
        >
          <p className="min-w-0 flex-1 break-words">{text}</p>
          <button
            type="button"
            aria-label="Dismiss"
            className="pointer-events-auto text-muted hover:text-ink"
            onClick={() => dismiss(id)}
          >
            <X size={14} />
          </button>
        </div>
      ))}
    </output>
  );
}
