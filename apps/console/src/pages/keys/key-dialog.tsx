import type { KeyRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { Copyable } from "../../ui/copyable.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { time } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { KeySpending } from "./key-spending.tsx";

interface KeyDialogProps {
  id: string;
  onClose(): void;
}

/** All about one key: the table leaves most of it out on narrow screens. */
export function KeyDialog({ id, onClose }: KeyDialogProps) {
  const found = useQuery({
    queryKey: ["keys", "one", id],
    async queryFn({ signal }) {
      for await (const key of api.account.keys.each({ signal })) if (key.id === id) return key;
      return null;
    },
  });
  return (
    <Dialog open onClose={onClose} title={found.data?.name ? `Key “${found.data.name}”` : "API key"}>
      <Loaded query={found}>
        {(key) =>
          key ? (
            <KeyFacts apiKey={key} />
          ) : (
            <Empty title="Key not found">It was revoked, or it belongs to another user.</Empty>
          )
        }
      </Loaded>
    </Dialog>
  );
}

function KeyFacts({ apiKey }: { apiKey: KeyRecord }) {
  const { id, public: shown, models, keep_inputs, created_at, last_used_at, expires_at, connected_app: app } = apiKey;
  return (
    <Facts
      facts={[
        app
          ? ["Connected app", `${app.name}, at ${app.host}. It works at /mcp only.`]
          : ["Prefix", <code key="prefix">{shown}</code>],
        ["ID", <Copyable key="id" text={id} />],
        [
          "Access",
          models === null ? (
            "Full access"
          ) : (
            <ul key="models">
              {models.map((model) => (
                <li key={model}>
                  <code className="text-xs">{model}</code>
                </li>
              ))}
            </ul>
          ),
        ],
        ["Limits", <KeySpending key="spent" apiKey={apiKey} />],
        ["Inputs", keep_inputs ? "Kept with the results of predictions" : "Not kept"],
        ["Created", <Moment key="created" at={created_at} />],
        ["Last used", <Moment key="used" at={last_used_at} />],
        ["Expires", expires_at === null ? "Never" : time(expires_at)],
      ]}
    />
  );
}
