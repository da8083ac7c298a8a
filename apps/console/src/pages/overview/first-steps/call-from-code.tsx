import { useMutation, useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { mayOpen } from "../../../shell/key-access.rules.ts";
import { useSession } from "../../../shell/session.ts";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { CodeBlock } from "../../../ui/code.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { Failure, Notice } from "../../../ui/notice.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { type FirstModel, quickstartCode } from "./quickstart-code.rules.ts";

/** Creates a key and shows calls that contain it. */
export function CallFromCode({ model }: { model: FirstModel | undefined }) {
  const { key } = useSession();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const creating = useMutation({
    meta: { showsFailure: true },
    // The result contains the key, which must not stay in the cache.
    gcTime: 0,
    mutationFn: () => api.account.keys.create({ name: "First steps" }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["keys"] }),
  });
  const close = () => {
    setOpen(false);
    creating.reset();
  };
  if (!mayOpen(key, "unlimited keys")) {
    return (
      <TextLink to="/models" className="py-1.5">
        Choose a model and open its API tab
      </TextLink>
    );
  }
  return (
    <>
      <Button
        icon={<KeyRound size={14} />}
        busy={creating.isPending}
        disabled={!model}
        onClick={() => {
          setOpen(true);
          creating.mutate();
        }}
      >
        Create key and show code
      </Button>
      <Dialog
        open={isOpen && !creating.isPending}
        onClose={close}
        title="Call a model from code"
        wide
        staysOpen={creating.isSuccess}
      >
        {creating.error && <Failure error={creating.error} onRetry={() => creating.mutate()} />}
        {creating.data?.key && model && (
          <div className="flex flex-col gap-4">
            <Notice tone="warn" title="You see this key only once">
              The code below contains your new key "First steps". Anyone with it can act as you. Revoke it under{" "}
              <TextLink to="/keys">API keys</TextLink>.
            </Notice>
            <Tabs
              tabs={quickstartCode(location.origin, creating.data.key, model).map(({ label, language, text }) => ({
                value: label,
                label,
                content: <CodeBlock label={label} language={language} text={text} />,
              }))}
            />
            <div className="flex justify-end">
              <button type="button" className={buttonClass("primary")} onClick={close}>
                Done
              </button>
            </div>
          </div>
        )}
      </Dialog>
    </>
  );
}
