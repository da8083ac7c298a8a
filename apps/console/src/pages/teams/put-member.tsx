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

const fields = ["username", "role", "monthly_limit", "daily_limit", "tokens_per_minute"] as const;
const roles: readonly { value: TeamRole; text: string }[] = [
  { value: "member", text: "Member: uses what the team has" },
  { value: "admin", text: "Admin: also manages members, models and secrets" },
  { value: "owner", text: "Owner: everything" },
];

function MemberForm({ team, member, onDone }: PutMemberProps & { onDone(): void }) {
  const [username, setUsername] = useState("");
  const [role, setRole] = useState<TeamRole>(member?.role ?? "member");
  const [monthly, setMonthly] = useState(String(member?.monthly_limit ?? ""));
  const [daily, setDaily] = useState(String(member?.daily_limit ?? ""));
  const [tokens, setTokens] = useState(String(member?.tokens_per_minute ?? ""));
  const queries = useQueryClient();
  const saving = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => {
      const change = {
        role,
        monthly_limit: numberIn(monthly),
        daily_limit: numberIn(daily),
        tokens_per_minute: numberIn(tokens),
      };
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
  const shown = team.role === "admin" ? roles.filter(({ value }) => value !== "owner") : roles;
  return (
    <Form
      submit={member ? "Save member" : "Add member"}
      busy={saving.isPending}
      disabled={!member && username.trim() === ""}
      errors={errors}
      onSubmit={() => saving.mutate()}
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
      <Field label="Dollars per month" error={errors.of.monthly_limit}>
        {(control) => <Limit {...control} value={monthly} onValue={setMonthly} />}
      </Field>
      <Field label="Dollars per day" error={errors.of.daily_limit}>
        {(control) => <Limit {...control} value={daily} onValue={setDaily} />}
      </Field>
      <Field label="Tokens per minute" error={errors.of.tokens_per_minute}>
        {(control) => <Limit {...control} value={tokens} onValue={setTokens} />}
      </Field>
    </Form>
  );
}

function Limit({ value, onValue, ...control }: { value: string; onValue(value: string): void }) {
  return (
    <TextInput
      {...control}
      type="number"
      min="0"
      step="any"
      placeholder="No limit"
      value={value}
      onChange={(e) => onValue(e.target.value)}
    />
  );
}

const numberIn = (text: string): number | null => (text.trim() === "" ? null : Number(text));
