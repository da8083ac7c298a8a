import type { ReactNode } from "react";
import { Panel } from "../../../ui/page.tsx";

interface SectionProps {
  title: string;
  hint: ReactNode;
  error?: string | undefined;
  children: ReactNode;
}

export function Section({ title, hint, error, children }: SectionProps) {
  return (
    <Panel title={title}>
      <div className="flex flex-col gap-3">
        <p className="text-muted">{hint}</p>
        {error !== undefined && (
          <p role="alert" className="text-bad">
            {error}
          </p>
        )}
        {children}
      </div>
    </Panel>
  );
}
