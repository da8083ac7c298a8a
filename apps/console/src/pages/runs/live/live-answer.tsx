import { LoaderCircle } from "lucide-react";
import { useEffect, useRef } from "react";
import { Markdown } from "../../../ui/markdown/markdown.tsx";
import type { LiveText } from "./live-text.rules.ts";

/** How far from the end a reader counts as following, in pixels. */
const nearEnd = 48;

/** The text that a model writes, following its end unless the reader has scrolled up. */
export function LiveAnswer({ text }: { text: LiveText | undefined }) {
  const box = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const isThinking = text !== undefined && text.text === "" && text.reasoning !== "";
  const shown = isThinking ? text.reasoning : (text?.text ?? "");
  // Markdown is drawn after this component.
  useEffect(() => {
    const { current } = box;
    if (!current) return;
    const stay = () => {
      if (isFollowing.current) current.scrollTop = current.scrollHeight;
    };
    const observer = new ResizeObserver(stay);
    for (const child of current.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);
  return (
    <div className="rounded-md border border-line">
      <div
        ref={box}
        role="log"
        aria-label="Text of the model"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled with the keyboard.
        tabIndex={0}
        className={`max-h-112 overflow-y-auto px-3 -outline-offset-2 ${isThinking ? "text-muted italic" : ""}`}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isFollowing.current = scrollHeight - scrollTop - clientHeight < nearEnd;
        }}
      >
        <div className={shown === "" ? "" : "py-2"}>{shown !== "" && <Markdown streaming text={shown} />}</div>
      </div>
      <p
        className={`flex items-center gap-2 border-line px-3 py-2 text-muted text-xs ${shown === "" ? "" : "border-t"}`}
      >
        <LoaderCircle size={13} className="animate-spin" />
        {shown === "" ? "Waiting for the model…" : isThinking ? "Thinking…" : "Writing…"}
      </p>
    </div>
  );
}
