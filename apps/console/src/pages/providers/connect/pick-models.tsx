import type { DiscoveredModel, ImportResult, ProviderRecord } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { Empty, Failure, Loaded, Notice } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { ImportSummary } from "../import-summary.tsx";
import { presetOf } from "../provider-form.rules.ts";
import { discoveryQuery, type ProviderScope, providersOf, providerTestQuery } from "../provider-scope.ts";
import { TestResult } from "../test-result.tsx";
import { batchesOf, choiceOf, isPriceMissing, type PriceTexts, summaryOf } from "../upstream-models.rules.ts";
import { ModelChoices } from "./model-choices.tsx";

interface PickModelsProps {
  provider: ProviderRecord;
  scope: ProviderScope;
}

export function PickModels({ provider, scope }: PickModelsProps) {
  const { name, type, source } = provider;
  const test = useQuery(providerTestQuery(scope, name));
  const discovery = useQuery(discoveryQuery(scope, name));
  // The test has said what is wrong already.
  const isUnreachable = test.data?.ok === false && discovery.isError;
  return (
    <>
      <TestResult
        test={test}
        help={
          source !== "environment" && (
            <Link
              to="/models/connect"
              search={{ provider: name, edit: true, ...(scope === "everyone" && { for: scope }) }}
              className={buttonClass()}
            >
              Change settings
            </Link>
          )
        }
      />
      {!isUnreachable && (
        <Loaded query={discovery}>
          {(models) =>
            models.length === 0 ? (
              <Panel>
                <Empty title={type === "comfyui" ? "No workflows found" : "No models found"}>
                  <p>{emptyHints[type] ?? "The server answered, but offers no models."}</p>
                  <Button className="mt-3" busy={discovery.isFetching} onClick={() => void discovery.refetch()}>
                    Look again
                  </Button>
                </Empty>
              </Panel>
            ) : (
              <ImportForm provider={provider} scope={scope} models={models} />
            )
          }
        </Loaded>
      )}
    </>
  );
}

const emptyHints: Partial<Record<ProviderRecord["type"], string>> = {
  ollama: "Pull a model on that machine, for example: ollama pull llama3.2",
  lmstudio: "Download a model in LM Studio, then look again.",
  comfyui: "Run a workflow in ComfyUI once. Workflows that ran lately appear here.",
};

/** The address of the next step names so many models at most. */
const mostNamed = 10;

function ImportForm({ provider, scope, models }: PickModelsProps & { models: readonly DiscoveredModel[] }) {
  const { name, type } = provider;
  const terms = { isHosted: presetOf(type).isHosted, isForEveryone: scope === "everyone" };
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [prices, setPrices] = useState<Readonly<Record<string, PriceTexts>>>({});
  const [showsMissing, setShowsMissing] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate({ from: "/models/connect" });
  const goOn = (imported: readonly string[]) =>
    navigate({
      search: {
        provider: name,
        imported: imported.slice(0, mostNamed),
        ...(scope === "everyone" && { for: scope }),
      },
    });
  const importing = useMutation({
    meta: { showsFailure: true },
    async mutationFn(choices: readonly ReturnType<typeof choiceOf>[]) {
      const results: ImportResult[] = [];
      for (const batch of batchesOf(choices)) results.push(...(await providersOf(scope).import(name, batch)));
      return results;
    },
    async onSuccess(results) {
      await Promise.all(
        [["models"], ["providers"], discoveryQuery(scope, name).queryKey].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      );
      if (results.every(({ outcome }) => outcome !== "failed")) await goOn(endpointsIn(results));
    },
  });
  const selected = models.filter(({ id }) => chosen.has(id));
  const missing = selected.filter((model) => isPriceMissing(model, prices[model.id] ?? {}, terms));
  const submit = () => {
    setShowsMissing(missing.length > 0);
    if (missing.length === 0) importing.mutate(selected.map((model) => choiceOf(model, prices[model.id] ?? {}, terms)));
  };
  return (
    <form
      noValidate
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (!importing.isPending && selected.length > 0) submit();
      }}
    >
      <ModelChoices
        models={models}
        terms={terms}
        chosen={chosen}
        onChosen={setChosen}
        prices={prices}
        onPrices={setPrices}
        missing={showsMissing ? missing.map(({ id }) => id) : []}
      />
      {importing.isError && <Failure error={importing.error} />}
      {importing.data && <NotImported results={importing.data} onContinue={(imported) => void goOn(imported)} />}
      <div
        data-sticky-bar
        className="sticky bottom-0 flex flex-wrap items-center justify-end gap-3 border-line border-t bg-page py-3"
      >
        {showsMissing && missing.length > 0 && (
          <span role="alert" className="text-bad">
            {missing.length === 1 ? "1 model needs a price." : `${missing.length} models need a price.`} Enter a number,
            or 0 to offer it for free.
          </span>
        )}
        <span aria-live="polite" className="text-muted">
          {selected.length === 0 ? "None selected" : `${selected.length} selected`}
        </span>
        <Button kind="primary" type="submit" busy={importing.isPending} disabled={selected.length === 0}>
          {importLabel(selected, type)}
        </Button>
      </div>
    </form>
  );
}

function importLabel(selected: readonly DiscoveredModel[], type: ProviderRecord["type"]): string {
  if (selected.length === 0) return "Import";
  const verb = selected.every(({ imported }) => imported !== null) ? "Update" : "Import";
  const noun = type === "comfyui" ? "workflow" : "model";
  return `${verb} ${selected.length === 1 ? noun : `${selected.length} ${noun}s`}`;
}

const endpointsIn = (results: readonly ImportResult[]): string[] =>
  results.flatMap(({ endpoint_id, outcome }) => (endpoint_id === null || outcome === "failed" ? [] : [endpoint_id]));

interface NotImportedProps {
  results: readonly ImportResult[];
  onContinue(imported: readonly string[]): void;
}

function NotImported({ results, onContinue }: NotImportedProps) {
  const failed = results.filter(({ outcome }) => outcome === "failed");
  const imported = endpointsIn(results);
  const notice = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new result comes into view.
  useEffect(() => notice.current?.scrollIntoView({ block: "center" }), [results]);
  if (failed.length === 0) return null;
  return (
    <div ref={notice} role="alert">
      <Notice tone="warn" title={summaryOf(results)}>
        <div className="mt-2 flex flex-col gap-3">
          <ImportSummary results={failed} />
          {imported.length > 0 && (
            <span>
              <Button onClick={() => onContinue(imported)}>Continue with the imported ones</Button>
            </span>
          )}
        </div>
      </Notice>
    </div>
  );
}
