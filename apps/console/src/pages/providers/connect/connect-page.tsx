import type { ProviderRecord, ProviderType } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { mayOpen } from "../../../shell/key-access.rules.ts";
import { useSession } from "../../../shell/session.ts";
import { Loaded, Notice } from "../../../ui/notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { presetOf } from "../provider-form.rules.ts";
import { type ProviderScope, providerQuery, useMayShare } from "../provider-scope.ts";
import { ChooseType } from "./choose-type.tsx";
import { ImportDone } from "./import-done.tsx";
import { PickModels } from "./pick-models.tsx";
import { ProviderForm } from "./provider-form.tsx";

const route = getRouteApi("/app/models/connect");

const steps = ["Choose", "Connect", "Pick models", "Done"] as const;

/** The address holds the step, so that Back and a reload keep it. */
export function ConnectPage() {
  const { key } = useSession();
  return (
    <Page
      title="Connect a model"
      lead={
        <>
          Use models of a vendor, or of a server that you run.{" "}
          <Link to="/providers" className="text-accent hover:underline">
            Connected providers
          </Link>
        </>
      }
    >
      {mayOpen(key, "managers") ? (
        <CurrentStep />
      ) : key.isPlainMember ? (
        <Notice tone="warn" title="Only admins and owners of the team can connect models" />
      ) : (
        <Notice tone="warn" title="This key can't connect models">
          Sign in with a key that has full access.
        </Notice>
      )}
    </Page>
  );
}

function CurrentStep() {
  const { type, provider, imported, edit, for: wanted } = route.useSearch();
  const mayShare = useMayShare();
  const scope: ProviderScope = wanted === "everyone" && mayShare ? "everyone" : "own";
  if (provider === undefined) {
    if (type === undefined) {
      return (
        <Step number={0} title="What do you want to connect?">
          <ChooseType />
        </Step>
      );
    }
    return (
      <Step number={1} title={`Connect ${presetOf(type).label}`}>
        <ProviderForm key={type} type={type} scope={scope} />
      </Step>
    );
  }
  if (edit) return <EditStep name={provider} scope={scope} />;
  if (imported) {
    return (
      <Step number={3} title={imported.length === 1 ? "Your model is ready" : "Your models are ready"}>
        <ImportDone imported={imported} provider={provider} scope={scope} />
      </Step>
    );
  }
  return <PickStep name={provider} scope={scope} />;
}

interface NamedStepProps {
  name: string;
  scope: ProviderScope;
}

function EditStep({ name, scope }: NamedStepProps) {
  return (
    <OfProvider name={name} scope={scope}>
      {(provider) => (
        <Step number={1} title={`Settings of ${name}`}>
          <ProviderForm key={name} type={provider.type} scope={scope} existing={provider} />
        </Step>
      )}
    </OfProvider>
  );
}

function PickStep({ name, scope }: NamedStepProps) {
  return (
    <OfProvider name={name} scope={scope}>
      {(provider) => (
        <Step number={2} title={`${nounOf(provider.type)} of ${name}`}>
          <PickModels key={`${scope} ${name}`} provider={provider} scope={scope} />
        </Step>
      )}
    </OfProvider>
  );
}

const nounOf = (type: ProviderType) => (type === "comfyui" ? "Workflows" : "Models");

function OfProvider({ name, scope, children }: NamedStepProps & { children(provider: ProviderRecord): ReactNode }) {
  return <Loaded query={useQuery(providerQuery(scope, name))}>{children}</Loaded>;
}

/** Moves focus to the heading of a new step, because the control that led here is gone. */
function Step({ number, title, children }: { number: number; title: string; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for every new step.
  useEffect(() => {
    if (number > 0 || !isFirst.current) heading.current?.focus();
    isFirst.current = false;
  }, [number, title]);
  return (
    <>
      <ol aria-label="Steps" className="flex flex-wrap gap-x-2 gap-y-1 text-muted sm:gap-x-5">
        {steps.map((label, n) => (
          <li
            key={label}
            aria-current={n === number ? "step" : undefined}
            className={`flex items-center gap-1 sm:gap-1.5 ${n === number ? "font-medium text-ink" : ""}`}
          >
            <span
              aria-hidden
              className={`flex size-5 items-center justify-center rounded-full text-xs ${n <= number ? "bg-accent text-accent-ink" : "bg-sunken"}`}
            >
              {n + 1}
            </span>
            {label}
          </li>
        ))}
      </ol>
      <section className="flex flex-col gap-4">
        <h2 ref={heading} tabIndex={-1} className="font-semibold text-base outline-none">
          {title}
        </h2>
        {children}
      </section>
    </>
  );
}
