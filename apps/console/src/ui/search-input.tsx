import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { TextInput } from "./field.tsx";
import { useIsLeaving } from "./use-is-leaving.ts";

/** Waits for a pause in typing. */
const pauseMs = 250;

interface SearchInputProps {
  /** Also the placeholder. */
  label: string;
  q: string | undefined;
  /** Undefined: the field was cleared. */
  onQ(q: string | undefined): void;
}

export function SearchInput({ label, q = "", onQ }: SearchInputProps) {
  const [text, setText] = useState(q);
  const isLeaving = useIsLeaving();
  const latest = useRef(onQ);
  latest.current = (typed) => {
    if (!isLeaving()) onQ(typed);
  };
  // A link may change the search.
  useEffect(() => setText(q), [q]);
  useEffect(() => {
    if (text.trim() === q) return;
    const timer = setTimeout(() => latest.current(text.trim() || undefined), pauseMs);
    return () => clearTimeout(timer);
  }, [text, q]);
  return (
    <div className="relative min-w-0">
      <Search size={14} className="absolute top-1/2 left-2.5 -translate-y-1/2 text-muted" aria-hidden />
      <TextInput
        type="search"
        aria-label={label}
        placeholder={label}
        className="pl-8"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </div>
  );
}
