import type { AgentRecord } from "@gantry/sdk";

export interface Version {
  /** Undefined: the published one, whichever it is. */
  revisionId: string | undefined;
  /** Whose input schema the form needs. */
  schemaOf: string;
  label: string;
}

type Versions = Pick<AgentRecord, "published_revision_id" | "latest_revision_id">;

/** What can be run again; the first is the default: the version that a person works on now. */
export function versionsFor(
  ranRevision: string,
  { published_revision_id: published, latest_revision_id: latest }: Versions,
): Version[] {
  const draft = latest === published ? [] : [{ revisionId: latest, schemaOf: latest, label: "Draft" }];
  const current = published === null ? [] : [{ revisionId: undefined, schemaOf: published, label: "Published" }];
  const isKnown = ranRevision === latest || ranRevision === published;
  const same = isKnown ? [] : [{ revisionId: ranRevision, schemaOf: ranRevision, label: "Same as this run" }];
  return ranRevision === published ? [...current, ...draft, ...same] : [...draft, ...current, ...same];
}
