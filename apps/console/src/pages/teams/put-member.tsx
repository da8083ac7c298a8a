import type { MemberRecord, TeamRecord, TeamRole } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";
import { KeyLimitFields } from "../keys/key-limit-fields.tsx";
import {
  emptyDraft,
  type LimitDraft,
  limitDraftOf,
  limitErrors,
  limitFields,
  limitIssues,
  limitsOfDraft,
} from "../keys/key-request.rules.ts";

interface PutMemberProps {
  team: TeamRecord;
  /** Undefined: add a member. */
  member?: MemberRecord;
}

export function PutMember({ team, member }: PutMemberProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      {member ? (
        <Button kind="quiet" aria-label={`Change ${member.username}`} onClick={() => setOpen(true)}>
          Change
        </Button>
      ) : (
        <Button icon={<UserPlus size={14} />} onClick={() => setOpen(true)}>
          Add member
        </Button>
      )}
      <Dialog
        open={isOpen}
        onClose={close}
        title={member ? `Change ${member.username}` : "Add member"}
        description="The budget bounds everything that the member does for the team, with all its keys."
      >
        <MemberForm team={team} {...(member && { member })} onDone={close} />
      </Dialog>
    </>
  );
}

const fields = ["username", "role", ...limitFields] as const;
const roles: readonly { value: TeamRole; text: string }[] = [
  { value: "member", text: "Member: uses what the team has" },
  { value: "admin", text: "Admin: also manages members, models and secrets" },
  { value: "owner", text: "Owner: everything" },
];

function MemberForm({ team, member, onDone }: PutMemberProps & { onDone(): void }) {
  const [username, setUsername] = useState("");
  const [role, setRole] = useState<TeamRole>(member?.role ?? "member");
  const [limits, setLimits] = useState<LimitDraft>(member ? limitDraftOf(member) : emptyDraft);
  const [isSubmitted, setSubmitted] = useState(false);
  const queries = useQueryClient();
  const saving = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => {
      const change = { role, ...limitsOfDraft(limits) };
      return member
        ? api.teams.updateMember(team.name, member.username, change)
        : api.teams.addMember(team.name, { username: username.trim(), ...change });
    },
    async onSuccess(saved) {
      toast(member ? `${saved.username} changed` : `${saved.username} added to ${team.name}`);
      onDone();
      await queries.invalidateQueries({ queryKey: ["teams"] });
    },
  });
  const errors = fieldErrors(saving.error, fields);
  const issues = limitIssues(limits);
  const submit = () => {
    setSubmitted(true);
    if (Object.keys(issues).length === 0) saving.mutate();
  };
  const shown = team.role === "admin" && role !== "owner" ? roles.filter(({ value }) => value !== "owner") : roles;
  return (
    <Form
      submit={member ? "Save member" : "Add member"}
      busy={saving.isPending}
      disabled={!member && username.trim() === ""}
      errors={errors}
      onSubmit={submit}
      onCancel={onDone}
    >
      {!member && (
        <Field label="Username" required error={errors.of.username}>
          {(control) => (
            <TextInput {...control} required value={username} onChange={(e) => setUsername(e.target.value)} />
          )}
        </Field>
      )}
      <Field label="Role" error={errors.of.role}>
        {(control) => (
          <Select {...control} value={role} onChange={(e) => setRole(e.target.value as TeamRole)}>
            {shown.map(({ value, text }) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <KeyLimitFields
        ofKey={false}
        draft={limits}
        errors={limitErrors(isSubmitted ? issues : {}, errors.of)}
        onChange={(change) => setLimits({ ...limits, ...change })}
      />
    </Form>
  );
}
