import { isUnanswered } from "./attempts.rules.ts";
import { Notice } from "./notice.tsx";

/** Beside the failure of what went out under an Idempotency-Key. */
export function MayBeDone({ error }: { error: unknown }) {
  if (!error || !isUnanswered(error)) return null;
  return (
    <Notice tone="warn" title="It may have been done">
      No answer came to it. Sent again as it stands, it is not done a second time.
    </Notice>
  );
}
