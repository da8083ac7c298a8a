import { Tabs as Radix } from "radix-ui";
import { type ReactNode, useEffect, useRef } from "react";
import { reveal } from "./reveal.ts";

interface TabsProps {
  tabs: readonly { value: string; label: string; content: ReactNode }[];
  value?: string;
  onValue?(value: string): void;
}

export function Tabs({ tabs, value, onValue }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  // On a phone the list is wider than the screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another value makes another tab active.
  useEffect(() => {
    const active = list.current?.querySelector('[data-state="active"]');
    if (list.current && active) reveal(list.current, active);
  }, [value]);
  return (
    <Radix.Root
      {...(value === undefined ? { defaultValue: tabs[0]?.value ?? "" } : { value })}
      {...(onValue && { onValueChange: onValue })}
    >
      <Radix.List ref={list} className="mb-4 flex gap-1 overflow-x-auto border-line border-b">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            // The list scrolls, which would cut an outline around the tab.
            className="-mb-px whitespace-nowrap rounded-t-md -outline-offset-2 border-transparent border-b-2 px-3 py-2 font-medium text-muted hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.value} value={tab.value}>
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
