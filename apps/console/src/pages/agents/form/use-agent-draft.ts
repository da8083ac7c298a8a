import { useState } from "react";
import { type AgentDraft, changesOf } from "./agent-draft.rules.ts";
import { followGoal, type GoalField, withField, withoutField } from "./goal-fields.rules.ts";

/** Input fields that the editor added while the goal was typed. */
export interface GoalInputs {
  added: readonly string[];
  add(field: GoalField): void;
  undo(name: string): void;
}

export interface EditedDraft {
  draft: AgentDraft;
  isDirty: boolean;
  inputs: GoalInputs;
  change(part: Partial<AgentDraft>): void;
}

interface Edit {
  draft: AgentDraft;
  added: readonly string[];
  declined: readonly string[];
}

const unedited = (draft: AgentDraft): Edit => ({ draft, added: [], declined: [] });

/** The draft in the form. A version that was saved elsewhere replaces it, unless it has changes of its own. */
export function useAgentDraft(saved: AgentDraft): EditedDraft {
  const [base, setBase] = useState(saved);
  const [edit, setEdit] = useState(() => unedited(saved));
  const { draft, added, declined } = edit;
  if (changesOf(base, saved)) {
    setBase(saved);
    const isKept = changesOf(base, draft) && changesOf(saved, draft);
    setEdit(isKept ? edit : unedited(saved));
  }
  const setSchema = (input_schema: AgentDraft["input_schema"], rest: Partial<Edit>) =>
    setEdit({ ...edit, ...rest, draft: { ...draft, input_schema } });
  return {
    draft,
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
