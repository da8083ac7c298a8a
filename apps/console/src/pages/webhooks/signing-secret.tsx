import { useMutation } from "@tanstack/react-query";
import { Eye } from "lucide-react";
import { api } from "../../api/client.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/code.tsx";
import { ConfirmButton, Dialog } from "../../ui/dialog.tsx";
import { Panel } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";

/** Loaded only when the user asks for it, and discarded with the dialog. */
export function SigningSecret() {
  const showing = useMutation({ gcTime: 0, mutationFn: () => api.webhooks.secrets() });
  const rotating = useMutation({
    gcTime: 0,
    mutationFn: () => api.webhooks.rotateSecret(),
    onSuccess: () => toast("Signing secret rotated"),
  });
  const secrets = rotating.data ?? showing.data;
  const close = () => {
    showing.reset();
    rotating.reset();
  };
  return (
    <Panel
      title="Signing secret"
      actions={
        <div className="flex gap-2">
          <Button icon={<Eye size={14} />} busy={showing.isPending} onClick={() => showing.mutate()}>
            Show
          </Button>
          <ConfirmButton
            label="Rotate"
            question="Rotate the signing secret?"
            explanation="Deliveries are signed with both secrets for one day, so you can update your receivers without failures. Then only the new secret is used."
            onConfirm={() => rotating.mutateAsync()}
          />
        </div>
      }
    >
      <p className="max-w-prose text-muted">
        Deliveries are signed according to{" "}
        <a
          href="https://www.standardwebhooks.com"
          target="_blank"
          rel="noreferrer"
          className="text-accent hover:underline"
        >
          Standard Webhooks
        </a>
        . Verify <code>webhook-signature</code> before trusting a delivery.
      </p>
      <Dialog
        open={secrets !== undefined}
        onClose={close}
        title={secrets && secrets.length > 1 ? "Signing secrets" : "Signing secret"}
        description="Anyone with this secret can forge deliveries. Store it safely."
      >
        <ul className="flex flex-col gap-3">
          {secrets?.map((secret, n) => (
            <li key={secret}>
              {secrets.length > 1 && (
                <p className="mb-1">
                  {n === 0 ? (
                    <Badge tone="good">Current</Badge>
                  ) : (
                    <Badge>Previous, valid for 1 day after rotation</Badge>
                  )}
                </p>
              )}
              <div className="flex items-center gap-2 rounded-md border border-line bg-sunken p-2">
                <code className="min-w-0 flex-1 break-all">{secret}</code>
                <CopyButton text={secret} />
              </div>
            </li>
          ))}
        </ul>
        <div className="mt-4 flex justify-end">
          <Button kind="primary" onClick={close}>
            Done
          </Button>
        </div>
      </Dialog>
    </Panel>
  );
}
