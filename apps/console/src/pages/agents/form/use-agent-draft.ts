import { useState } from "react";
import { type AgentDraft, changesOf, type Rebased, rebased } from "./agent-draft.rules.ts";
import { followGoal, type GoalField, withField, withoutField } from "./goal-fields.rules.ts";

/** Input fields that the editor added while the goal was typed. */
export interface GoalInputs {
  added: readonly string[];
  add(field: GoalField): void;
  undo(name: string): void;
}

export type Merged = Pick<Rebased, "taken" | "kept">;

export interface EditedDraft {
  draft: AgentDraft;
  isDirty: boolean;
  inputs: GoalInputs;
  /** What became of changes that were saved elsewhere during the edit. */
  merged: Merged | undefined;
  change(part: Partial<AgentDraft>): void;
}

interface Edit {
  draft: AgentDraft;
  added: readonly string[];
  declined: readonly string[];
  merged?: Merged | undefined;
}

const unedited = (draft: AgentDraft): Edit => ({ draft, added: [], declined: [] });

/** The draft in the form, on top of the version saved last. `sent`: what was saved here. */
export function useAgentDraft(saved: AgentDraft, sent?: AgentDraft): EditedDraft {
  const [base, setBase] = useState(saved);
  const [edit, setEdit] = useState(() => unedited(saved));
  const { draft, added, declined } = edit;
  if (changesOf(base, saved)) {
    setBase(saved);
    const { draft: after, taken, kept } = rebased(base, saved, draft);
    const isOwn = sent !== undefined && !changesOf(sent, saved);
    if (!changesOf(saved, after)) setEdit(unedited(saved));
    else if (isOwn) setEdit({ ...edit, draft: after, merged: undefined });
    else setEdit({ ...edit, draft: after, merged: { taken, kept } });
  }
  const setSchema = (input_schema: AgentDraft["input_schema"], rest: Partial<Edit>) =>
    setEdit({ ...edit, ...rest, draft: { ...draft, input_schema } });
  return {
    draft,
    merged: edit.merged,
    isDirty: changesOf(saved, draft) !== undefined,
    inputs: {
      added,
      add: (field) =>
        setSchema(withField(draft.input_schema, field), {
          added: [...added, field.name],
          declined: declined.filter((name) => name !== field.name),
        }),
      undo: (name) =>
        setSchema(withoutField(draft.input_schema, name), {
          added: added.filter((other) => other !== name),
          declined: [...declined, name],
        }),
    },
    change: (part) =>
      setEdit((before) => {
        const after = { ...before.draft, ...part };
        if (part.goal === undefined || part.input_schema !== undefined) return { ...before, draft: after };
        const { schema, ...rest } = followGoal(before.draft.goal, part.goal, { ...before, schema: after.input_schema });
        return { ...rest, draft: { ...after, input_schema: schema } };
      }),
  };
}
