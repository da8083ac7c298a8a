import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { CodeArea, Field } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";
import { nameOf } from "./drive-path.rules.ts";

/** A version of a text file. */
export interface EditedFile {
  driveId: string;
  path: string;
  text: string;
  type: string;
  etag: string;
}

export function FileEditor({ file, onDone }: { file: EditedFile; onDone(): void }) {
  // An agent may write the file meanwhile: the first version is the one that is replaced.
  const [{ driveId, path, text, type, etag }] = useState(file);
  const [typed, setTyped] = useState(text);
  const queries = useQueryClient();
  const saving = useMutation({
    meta: { showsFailure: true },
    // Text areas have only \n.
    mutationFn: () =>
      api.drives.files.replace(driveId, path, text.includes("\r\n") ? typed.replaceAll("\n", "\r\n") : typed, {
        type,
        ifMatch: etag,
      }),
    async onSuccess() {
      await Promise.all(["drive-file", "drives"].map((key) => queries.invalidateQueries({ queryKey: [key] })));
      toast(`${nameOf(path)} saved`);
      onDone();
    },
  });
  return (
    <Form
      submit="Save"
      busy={saving.isPending}
      disabled={typed === text}
      errors={fieldErrors(saving.error, [])}
      onSubmit={() => saving.mutate()}
      onCancel={onDone}
    >
      <Field label="Content">
        {(control) => (
          <CodeArea {...control} rows={16} value={typed} onChange={(event) => setTyped(event.target.value)} />
        )}
      </Field>
    </Form>
  );
}
