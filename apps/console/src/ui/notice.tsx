import { GantryError } from "@gantry/sdk";
import type { UseQueryResult } from "@tanstack/react-query";
import { CircleAlert, Info, LoaderCircle } from "lucide-react";
import type { ReactNode } from "react";
import { AvailableBalance } from "./available-balance.tsx";
import { Button } from "./button.tsx";
import { adviceFor } from "./error-advice.rules.ts";
import { errorText, isConnectionError, issueText, isWorthRetrying } from "./error-text.rules.ts";
import { TextLink } from "./link.tsx";
import { isOfAnother, OpenAsOwner } from "./open-as-owner.tsx";
import type { Tone } from "./toast.ts";

const tones: Record<Tone, string> = {
  plain: "border-line bg-sunken",
  good: "border-good/40 bg-good-soft",
  bad: "border-bad/40 bg-bad-soft",
  warn: "border-warn/40 bg-warn-soft",
  info: "border-info/40 bg-info-soft",
};

export function Notice({ tone = "info", title, children }: { tone?: Tone; title?: ReactNode; children?: ReactNode }) {
  const Icon = tone === "bad" || tone === "warn" ? CircleAlert : Info;
  return (
    <div role={tone === "bad" ? "alert" : undefined} className={`flex gap-2.5 rounded-md border p-3 ${tones[tone]}`}>
      <Icon size={16} className="mt-0.5 shrink-0" />
      <div className="min-w-0 flex-1 break-words">
        {title && <p className="font-medium">{title}</p>}
        {children}
      </div>
    </div>
  );
}

export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const issues = error instanceof GantryError ? error.issues : [];
  const requestId = error instanceof GantryError ? error.requestId : undefined;
  return (
    <Notice tone="bad" title={issues.length > 1 ? `${issues.length} problems` : errorText(error)}>
      {issues.length > 1 && (
        <ul className="mt-1 list-disc pl-4">
          {[...new Set(issues.map(issueText))].map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <NextStep error={error} />
      {isConnectionError(error) && <p className="mt-1 text-muted text-xs">{error.message}</p>}
      {requestId && <p className="mt-1 text-muted text-xs">Request {requestId}</p>}
      {onRetry && isWorthRetrying(error) && (
        <Button className="mt-2" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Notice>
  );
}

function NextStep({ error }: { error: unknown }) {
  const advice = adviceFor(error);
  if (!advice) return null;
  const { text, link } = advice;
  return (
    <>
      {error instanceof GantryError && error.message === "Insufficient funds" && <AvailableBalance />}
      <p className="mt-1">
        {text} {link && <TextLink to={link.to}>{link.label}</TextLink>}
      </p>
    </>
  );
}

export function Loading() {
  return (
    <p className="flex items-center justify-center gap-2 p-8 text-muted">
      <LoaderCircle size={16} className="animate-spin" /> Loading…
    </p>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 p-10 text-center">
      <p className="font-medium">{title}</p>
      {children && <div className="max-w-prose text-muted">{children}</div>}
    </div>
  );
}

interface LoadedProps<T> {
  query: UseQueryResult<T>;
  /** The failure is the result: no retry button. */
  isFinal?: boolean;
  children(data: T): ReactNode;
}

/** The data of a query, or its error. Earlier data stays visible during a refetch. */
export function Loaded<T>({ query, isFinal = false, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) {
    return (
      <>
        <Failure error={query.error} {...(!isFinal && { onRetry: () => void query.refetch() })} />
        {isOfAnother(query.error) && <OpenAsOwner />}
      </>
    );
  }
  return <Loading />;
}
