import { ArrowDown } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";

/** Within this distance the reader is at the end. */
const nearPx = 32;

interface FollowEndProps {
  /** New content arrives at the end. */
  active: boolean;
  /** Names the region for screen readers. */
  label: string;
  /** Bounds the height. */
  className?: string;
  /** Takes the height that is left in a column. */
  fills?: boolean;
  /** A new value jumps to the end, as after a message of the reader. */
  latest?: string | undefined;
  children: ReactNode;
}

const scrollToEnd = (box: HTMLElement | null) => box?.scrollTo({ top: box.scrollHeight });

/** Scrolls with growing content, until the reader scrolls up. */
export function FollowEnd({
  active,
  label,
  className = "max-h-[70vh]",
  fills = false,
  latest,
  children,
}: FollowEndProps) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const lastTop = useRef(0);
  const [isBehind, setBehind] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new value follows again.
  useEffect(() => {
    if (!active || !content.current) return;
    isFollowing.current = true;
    const observer = new ResizeObserver(() => {
      if (isFollowing.current) scrollToEnd(box.current);
    });
    observer.observe(content.current);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [active, latest]);
  const readPosition = () => {
    if (!box.current) return;
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    const isNear = scrollHeight - scrollTop - clientHeight < nearPx;
    // Content that arrives after a jump to the end is not the reader's doing: only scrolling up is.
    isFollowing.current = isNear || (isFollowing.current && scrollTop >= lastTop.current);
    lastTop.current = scrollTop;
    setBehind(!isFollowing.current);
  };
  return (
    <div className={fills ? "relative flex min-h-0 flex-1 flex-col" : "relative"}>
      <section
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled with the keyboard.
        tabIndex={0}
        aria-label={label}
        onScroll={readPosition}
        className={`overflow-y-auto ${fills ? "min-h-0 flex-1" : ""} ${className}`}
      >
        <div ref={content}>{children}</div>
      </section>
      {active && isBehind && (
        <button
          type="button"
          className="absolute bottom-2 left-1/2 inline-flex -translate-x-1/2 items-center gap-1.5 rounded-full border border-strong-line bg-panel px-3 py-1 font-medium text-xs shadow-md hover:bg-sunken"
          onClick={() => {
            isFollowing.current = true;
            setBehind(false);
            scrollToEnd(box.current);
          }}
        >
          <ArrowDown size={12} aria-hidden /> Jump to latest
        </button>
      )}
    </div>
  );
}
