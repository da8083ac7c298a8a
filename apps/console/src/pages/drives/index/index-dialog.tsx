import type { DriveRecord } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field, Select } from "../../../ui/field.tsx";
import { fieldErrors } from "../../../ui/field-errors.rules.ts";
import { Form } from "../../../ui/form.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { toast } from "../../../ui/toast.ts";
import { priceParts } from "../../models/price.rules.ts";
import { embeddingModelsQuery } from "./index-queries.ts";

/** Turns the index of a drive on, or changes its embedding model. */
export function IndexDialog({ drive, onClose }: { drive: DriveRecord; onClose(): void }) {
  const { id, index } = drive;
  const models = useQuery(embeddingModelsQuery);
  const [model, setModel] = useState(index?.embedding_model ?? "");
  const queries = useQueryClient();
  const saving = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => api.drives.update(id, { index: { embedding_model: model || null } }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["drives"] });
      toast(index ? "Embedding model changed" : "Indexing started");
      onClose();
    },
  });
  const errors = fieldErrors(saving.error, ["index", "index.embedding_model"]);
  const isListed = model === "" || models.data?.some(({ endpoint_id }) => endpoint_id === model);
  return (
    <Dialog
      open
      onClose={onClose}
      title={index ? "Change the embedding model" : "Make files searchable"}
      description={
        index
          ? "All files are indexed again with the new model."
          : "Gantry reads text, Markdown, HTML, PDF and Word files, and follows every change."
      }
    >
      <Form
        submit={index ? "Change model" : "Turn on search"}
        busy={saving.isPending}
        disabled={index !== null && model === (index.embedding_model ?? "")}
        errors={errors}
        onSubmit={() => saving.mutate()}
        onCancel={onClose}
      >
        <Field
          label="Embedding model"
          error={errors.of["index.embedding_model"] ?? errors.of.index}
          hint={
            models.data?.length === 0 ? (
              <>
                You have no embedding models. <TextLink to="/models/connect">Connect a model</TextLink> to also search
                by meaning.
              </>
            ) : (
              "Finds texts with the same meaning in other words. You pay for its calls."
            )
          }
        >
          {(control) => (
            <Select {...control} value={model} onChange={(event) => setModel(event.target.value)}>
              <option value="">None: search by words only (free)</option>
              {!isListed && <option value={model}>{model}</option>}
              {models.data?.map(({ endpoint_id, pricing }) => (
                <option key={endpoint_id} value={endpoint_id}>
                  {endpoint_id} ({priceParts(pricing).join(", ").toLowerCase()})
                </option>
              ))}
            </Select>
          )}
        </Field>
      </Form>
    </Dialog>
  );
}
