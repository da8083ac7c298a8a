import { useEffect, useRef, useState } from "react";
import { TextInput } from "../../ui/field.tsx";
import { useIsLeaving } from "../../ui/use-is-leaving.ts";

const quietMs = 250;

interface MarketplaceSearchProps {
  /** Of the address. */
  wanted: string;
  onSearch(text: string): void;
}

/** Searches while the user types. */
export function MarketplaceSearch({ wanted, onSearch }: MarketplaceSearchProps) {
  const [text, setText] = useState(wanted);
  const sent = useRef(wanted);
  const isLeaving = useIsLeaving();
  useEffect(() => {
    // The Back button changes the address, not the text.
    if (wanted !== sent.current) setText(wanted);
    sent.current = wanted;
  }, [wanted]);
  const send = (typed: string) => {
    if (typed.trim() === sent.current || isLeaving()) return;
    sent.current = typed.trim();
    onSearch(sent.current);
  };
  const latest = useRef(send);
  latest.current = send;
  useEffect(() => {
    const timer = setTimeout(() => latest.current(text), quietMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <search className="max-w-md">
      <TextInput
        type="search"
        aria-label="Search agents"
        placeholder="Search by name, description or creator"
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && send(text)}
      />
    </search>
  );
}
