import { isUnanswered } from "./attempts.rules.ts";
import { Notice } from "./notice.tsx";

/** For requests with an Idempotency-Key. */
export function MayHaveSucceeded({ error }: { error: unknown }) {
  if (!error || !isUnanswered(error)) return null;
  return (
    <Notice tone="warn" title="This request may have gone through">
      Retrying won't charge you twice.
    </Notice>
  );
}
