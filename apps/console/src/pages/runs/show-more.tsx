import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";

/** In pixels. */
const shortHeight = 420;

/** Cuts long content until it is asked for. */
export function ShowMore({ children }: { children: ReactNode }) {
  const content = useRef<HTMLDivElement>(null);
  const [isLong, setLong] = useState(false);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const { current } = content;
    if (!current) return;
    // Markdown is drawn after its parser has loaded.
    const observer = new ResizeObserver(() => setLong(current.scrollHeight > shortHeight * 1.2));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  const isCut = isLong && !isOpen;
  return (
    <>
      <div className={isCut ? "mask-b-from-80% overflow-hidden" : ""} style={isCut ? { maxHeight: shortHeight } : {}}>
        <div ref={content}>{children}</div>
      </div>
      {isLong && (
        <Button className="mt-3 w-full" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : "Show all"}
        </Button>
      )}
    </>
  );
}
