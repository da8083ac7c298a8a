import type { ModelCard } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useSession } from "../../shell/session.ts";
import { CopyButton } from "../../ui/code.tsx";
import { Loaded, Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { toast } from "../../ui/toast.ts";
import { TakeDown } from "../admin/take-down.tsx";
import { ApiTab } from "./api/api-tab.tsx";
import { isStreamed } from "./api/call-code.rules.ts";
import { useChat } from "./chat/use-chat.ts";
import { DetailsTab } from "./details/details-tab.tsx";
import { manifestTextOf } from "./manifest/manifest.rules.ts";
import { ManifestTab } from "./manifest/manifest-tab.tsx";
import { useManifest } from "./manifest/use-manifest.ts";
import { ModelBadges } from "./model-badges.tsx";
import { modelQuery } from "./model-query.ts";
import { inputWithBlanks } from "./playground/form-values.rules.ts";
import { fieldsOf } from "./playground/input-form.rules.ts";
import { PlaygroundTab } from "./playground/playground-tab.tsx";
import { useFormValues } from "./playground/use-form-values.ts";
import { useRun } from "./playground/use-run.ts";
import { useModelAddress } from "./use-model-address.ts";

/** The API refuses to take these down. */
const isBuiltIn = (owner: string) => ["gantry", "anthropic"].includes(owner);

const route = getRouteApi("/app/models/$owner/$name");

export function ModelPage() {
  const { owner, name } = route.useParams();
  const id = `${owner}/${name}`;
  const model = useQuery(modelQuery(id));
  const { username } = useSession();
  // The owner makes it private instead.
  const mayTakeDown = model.data?.visibility === "public" && !isBuiltIn(owner) && owner !== username;
  return (
    <Page
      title={model.data?.title ?? id}
      actions={mayTakeDown && <TakeDown kind="model" id={id} />}
      lead={
        <span className="flex flex-wrap items-center gap-2">
          <Link to="/models" className="text-accent hover:underline">
            Models
          </Link>
          <code>{id}</code>
          <CopyButton text={id} />
          {model.data && <ModelBadges card={model.data} />}
        </span>
      }
    >
      {model.data?.taken_down && (
        <Notice tone="warn" title="An admin took this model down">
          {model.data.taken_down.reason} The model stays private until an admin restores it.
        </Notice>
      )}
      {/* Other fields reset the form. Other changes of the model leave runs and chats alone. */}
      <Loaded query={model}>
        {(card) => <ModelTabs key={`${id} ${JSON.stringify([card.input, card.output])}`} card={card} />}
      </Loaded>
    </Page>
  );
}

/** Keeps form values, edits and runs here, so that switching tabs does not discard them. */
function ModelTabs({ card }: { card: ModelCard }) {
  const { search, change } = useModelAddress();
  const fields = useMemo(() => fieldsOf(card.input), [card.input]);
  const form = useFormValues(fields);
  const shown = useRun({
    model: card.endpoint_id,
    isStreamed: isStreamed(card),
    shownId: search.run,
    onAccepted: (run) => change({ run }),
  });
  const chat = useChat(card.endpoint_id);
  const edited = useManifest(manifestTextOf(card), () => toast("Model saved"));
  const tabs = [
    {
      value: "playground",
      label: "Playground",
      content: <PlaygroundTab card={card} fields={fields} form={form} shown={shown} chat={chat} />,
    },
    { value: "api", label: "API", content: <ApiTab card={card} input={inputWithBlanks(fields, form.values)} /> },
    { value: "details", label: "Details", content: <DetailsTab card={card} /> },
    // The API returns the backends only to users who may edit the model.
    ...(card.backend || card.backends
      ? [{ value: "manifest", label: "Manifest", content: <ManifestTab card={card} edited={edited} /> }]
      : []),
  ];
  const tab = tabs.find(({ value }) => value === search.tab) ?? tabs[0];
  return (
    <Tabs
      tabs={tabs}
      value={tab?.value ?? "playground"}
      onValue={(value) => change({ tab: value === "playground" ? undefined : value })}
    />
  );
}
