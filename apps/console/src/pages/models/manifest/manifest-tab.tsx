import type { ModelCard } from "@gantry/sdk";
import { Button } from "../../../ui/button.tsx";
import { LeaveGuard } from "../../../ui/leave-guard.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { manifestTextOf } from "./manifest.rules.ts";
import { ManifestEditor } from "./manifest-editor.tsx";
import { ModelMenu } from "./model-menu.tsx";
import type { EditedManifest } from "./use-manifest.ts";

/** The page keeps the text, so that switching tabs does not discard it. */
export function ManifestTab({ card, edited }: { card: ModelCard; edited: EditedManifest }) {
  const { text, change, faults, failure, isSaving, save } = edited;
  const stored = manifestTextOf(card);
  const isChanged = text !== stored;
  return (
    <Panel title="Manifest" actions={<ModelMenu card={card} />}>
      <div className="flex flex-col gap-3">
        <LeaveGuard isDirty={isChanged && !isSaving} keepsSearch />
        <p className="max-w-prose text-muted">
          Inputs, outputs, price and backend. Saving replaces the manifest; running predictions are not affected.
          Version {card.version}.
        </p>
        <ManifestEditor text={text} onText={change} faults={faults} />
        {failure !== undefined && <Failure error={failure} />}
        <div className="flex items-center gap-2">
          <Button kind="primary" busy={isSaving} disabled={!isChanged} onClick={() => save(card.endpoint_id)}>
            Save
          </Button>
          <Button kind="quiet" disabled={!isChanged || isSaving} onClick={() => change(stored)}>
            Discard changes
          </Button>
        </div>
      </div>
    </Panel>
  );
}
