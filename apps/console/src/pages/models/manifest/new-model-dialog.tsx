import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useSession } from "../../../shell/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field, Select, TextInput } from "../../../ui/field.tsx";
import { pretty } from "../../../ui/json.rules.ts";
import { TextLink } from "../../../ui/link.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { toast } from "../../../ui/toast.ts";
import { ManifestEditor } from "./manifest-editor.tsx";
import { templates } from "./templates.ts";
import { NameTaken, useManifest } from "./use-manifest.ts";

export function NewModelDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      wide
      title="New model"
      description={
        <>
          The manifest defines the model's inputs, outputs, price and backend. To add models of a vendor or of your own
          server without JSON, <TextLink to="/models/connect">connect a model</TextLink>.
        </>
      }
    >
      <NewModelForm onClose={onClose} />
    </Dialog>
  );
}

function NewModelForm({ onClose }: { onClose(): void }) {
  const { username, role } = useSession();
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState("openai");
  const offered = Object.entries(templates).filter(([, { isForAdmins }]) => !isForAdmins || role === "admin");
  const needs = templates[chosen]?.needs;
  const navigate = useNavigate();
  const { text, change, faults, failure, isSaving, save } = useManifest(textOf(chosen), (card) => {
    toast(`Model ${card.endpoint_id} created`);
    void navigate({ to: "/models/$owner/$name", params: { owner: card.owner, name: card.name } });
  });
  const isTaken = failure instanceof NameTaken;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save(`${username}/${name.trim()}`, { isNew: true });
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={submit}>
      <Field
        label="Name"
        required
        hint={`Call it as ${username}/${name.trim() || "name"}.`}
        error={isTaken ? failure.message : undefined}
      >
        {(control) => (
          <TextInput
            {...control}
            required
            pattern="[a-z0-9][a-z0-9._\-]{0,62}"
            title="Lowercase letters, digits, dots, underscores and hyphens, starting with a letter or digit"
            placeholder="my-model"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Field label="Template" hint={needs === undefined ? "Works without a key." : <NeedsText needs={needs} />}>
        {(control) => (
          <Select
            {...control}
            value={chosen}
            onChange={(event) => {
              setChosen(event.target.value);
              change(textOf(event.target.value));
            }}
          >
            {offered.map(([id, { label }]) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <ManifestEditor text={text} onText={change} faults={faults} />
      {failure !== undefined && !isTaken && <Failure error={failure} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" busy={isSaving} disabled={name.trim() === ""}>
          Create model
        </Button>
      </div>
    </form>
  );
}

const textOf = (template: string): string => pretty(templates[template]?.manifest);

function NeedsText({ needs }: { needs: string }) {
  return (
    <>
      {needs} Save it under <TextLink to="/secrets">Secrets</TextLink>.
    </>
  );
}
