import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Send } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";

/** Opens the page of the delivery, where its result appears. */
export function SendTest() {
  const [isOpen, setOpen] = useState(false);
  const [url, setUrl] = useState("");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const sending = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => api.webhooks.sendTest(url.trim()),
    async onSuccess({ id }) {
      setOpen(false);
      await queries.invalidateQueries({ queryKey: ["deliveries"] });
      await navigate({ to: "/webhooks/$deliveryId", params: { deliveryId: id } });
    },
  });
  const errors = fieldErrors(sending.error, ["url"]);
  const close = () => {
    setOpen(false);
    sending.reset();
  };
  return (
    <>
      <Button icon={<Send size={14} />} onClick={() => setOpen(true)}>
        Send test event
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title="Send test event"
        description="Gantry sends one signed event with a sample result, so you can try your receiver. Failed test events are not retried."
      >
        <Form
          submit="Send"
          busy={sending.isPending}
          disabled={url.trim() === ""}
          errors={errors}
          onSubmit={() => sending.mutate()}
          onCancel={close}
        >
          <Field label="URL" required error={errors.of.url}>
            {(control) => (
              <TextInput
                {...control}
                required
                type="url"
                inputMode="url"
                placeholder="https://example.com/hook"
                value={url}
                onChange={({ target }) => {
                  if (sending.isError) sending.reset();
                  setUrl(target.value);
                }}
              />
            )}
          </Field>
        </Form>
      </Dialog>
    </>
  );
}
