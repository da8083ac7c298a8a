import { useEffect, useRef } from "react";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code.tsx";
import { pretty } from "../../ui/json.rules.ts";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import type { Answer } from "./use-action-run.ts";

/** `onNext`: there is more of the list. */
export function ActionAnswer({ answer, onNext }: { answer: Answer; onNext?: () => void }) {
  const element = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each answer anew.
  useEffect(() => {
    // Below a long form it would not be noticed.
    element.current?.scrollIntoView({ block: "nearest" });
  }, [answer]);
  return (
    <Panel title="Answer" actions={onNext && <Button onClick={onNext}>Next page</Button>}>
      <div ref={element} role="status" className="flex flex-col gap-3">
        {answer.warnings.map((warning) => (
          <Notice key={warning} tone="warn" title={warning} />
        ))}
        {answer.result === null ? (
          <p>Done. The tenant says nothing more.</p>
        ) : (
          <CodeBlock label="What the tenant answered" text={pretty(answer.result)} />
        )}
      </div>
    </Panel>
  );
}
