import type { ProviderTestRecord } from "@gantry/sdk";
import type { UseQueryResult } from "@tanstack/react-query";
import { CircleCheck, LoaderCircle } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { seconds } from "../../ui/format.ts";
import { Failure, Notice } from "../../ui/notice.tsx";

interface TestResultProps {
  test: UseQueryResult<ProviderTestRecord>;
  /** Shown when the test failed, beside "Test again". */
  help?: ReactNode;
}

/** One sentence: what the provider answered, or what is wrong and what to do. */
export function TestResult({ test, help }: TestResultProps) {
  const { data, isFetching, isError, error, refetch } = test;
  if (isFetching) {
    return (
      <p role="status" className="flex items-center gap-2 text-muted">
        <LoaderCircle size={16} className="animate-spin" /> Testing the connection…
      </p>
    );
  }
  if (isError) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  if (data.ok) {
    return (
      <p role="status" className="flex items-start gap-2 text-good">
        <CircleCheck size={16} className="mt-0.5 shrink-0" />
        <span className="min-w-0">
          <Sentence text={data.message} />
          {data.latency_ms !== null && <span className="text-muted"> ({seconds(data.latency_ms / 1000)})</span>}
        </span>
      </p>
    );
  }
  return (
    <Notice tone="bad" title={<Sentence text={data.message} />}>
      <span className="mt-2 flex flex-wrap gap-2">
        {help}
        <Button onClick={() => void refetch()}>Test again</Button>
      </span>
    </Notice>
  );
}

/** Commands are in backticks. */
function Sentence({ text }: { text: string }) {
  return (
    text
      .split(/`([^`]+)`/)
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other identity.
      .map((part, n) => (n % 2 === 0 ? part : <code key={n}>{part}</code>))
  );
}
