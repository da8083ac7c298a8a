import type { ReactNode } from "react";

/** What the user said. */
export function Question({ children }: { children: ReactNode }) {
  return (
    <div className="flex justify-end">
      <div className="wrap-anywhere max-w-[85%] whitespace-pre-wrap rounded-2xl rounded-br-sm bg-sunken px-3.5 py-2">
        <span className="sr-only">You: </span>
        {children}
      </div>
    </div>
  );
}

export function Waiting() {
  return (
    <span role="status" className="flex gap-1 py-2">
      <span className="sr-only">Waiting for the answer</span>
      {["0ms", "150ms", "300ms"].map((animationDelay) => (
        <span
          key={animationDelay}
          style={{ animationDelay }}
          className="size-1.5 animate-pulse rounded-full bg-muted motion-reduce:animate-none"
        />
      ))}
    </span>
  );
}
