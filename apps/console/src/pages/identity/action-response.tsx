import { useEffect, useRef } from "react";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code.tsx";
import { pretty } from "../../ui/json.rules.ts";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import type { Response } from "./use-action-run.ts";

/** `onNext`: the list has another page. */
export function ActionResponse({ response, onNext }: { response: Response; onNext?: () => void }) {
  const element = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scroll for every response.
  useEffect(() => {
    // The response may be out of view below a long form.
    element.current?.scrollIntoView({ block: "nearest" });
  }, [response]);
  return (
    <Panel title="Response" actions={onNext && <Button onClick={onNext}>Next page</Button>}>
      <div ref={element} role="status" className="flex flex-col gap-3">
        {response.warnings.map((warning) => (
          <Notice key={warning} tone="warn" title={warning} />
        ))}
        {response.result === null ? (
          <p>Done. The tenant returned no data.</p>
        ) : (
          <CodeBlock label="Response of the tenant" text={pretty(response.result)} />
        )}
      </div>
    </Panel>
  );
}
