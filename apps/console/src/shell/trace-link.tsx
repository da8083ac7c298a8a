import { linkClass } from "../ui/link.tsx";
import { useSession } from "./session.ts";

/** Leads to the tracing tool of the operator. Null without one, or if the trace is not recorded. */
export function useTraceLink(traceId: string | null | undefined) {
  const { trace_url: address } = useSession();
  if (!address || !traceId) return null;
  return (
    <a className={linkClass} href={address.replaceAll("{trace_id}", traceId)} target="_blank" rel="noreferrer">
      Open trace
    </a>
  );
}
