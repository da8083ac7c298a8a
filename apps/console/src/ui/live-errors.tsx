import { createContext, type FormEvent, type ReactNode, use, useState } from "react";
import type { FieldErrors } from "./field-errors.rules.ts";

interface Live {
  /** Messages of the last attempt. */
  sent: ReadonlySet<string>;
  /** Ids of controls that were edited since. */
  edited: ReadonlySet<string>;
}

const LiveContext = createContext<Live | undefined>(undefined);
const none: ReadonlySet<string> = new Set();

/**
 * Hides an error of the server as soon as its field is edited: only the next attempt can tell whether it is still
 * there. Errors that the page itself computes stay until they are gone.
 */
export function LiveErrors({ errors, children }: { errors: FieldErrors; children: ReactNode }) {
  const [seen, setSeen] = useState<{ failure: unknown; edited: ReadonlySet<string> }>({
    failure: undefined,
    edited: none,
  });
  const edited = seen.failure === errors.failure ? seen.edited : none;
  const note = (event: FormEvent) => {
    const { id } = event.target as Element;
    if (errors.failure && id && !edited.has(id)) setSeen({ failure: errors.failure, edited: new Set([...edited, id]) });
  };
  return (
    <LiveContext value={{ sent: new Set(Object.values(errors.of)), edited }}>
      <div className="contents" onChange={note}>
        {children}
      </div>
    </LiveContext>
  );
}

/** The error of a control, unless it is outdated. */
export function useLiveError(id: string, error: string | undefined): string | undefined {
  const live = use(LiveContext);
  return error !== undefined && live?.sent.has(error) && live.edited.has(id) ? undefined : error;
}
