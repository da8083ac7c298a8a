import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, Cable, Code, ImageIcon, MessageSquareText, Play } from "lucide-react";
import type { ReactNode } from "react";
import { mayOpen } from "../../../shell/key-access.rules.ts";
import { useSession } from "../../../shell/session.ts";
import { buttonClass } from "../../../ui/button.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { CallFromCode } from "./call-from-code.tsx";
import { firstModelsQuery } from "./first-models-query.ts";
import type { FirstModel } from "./quickstart-code.rules.ts";

/** What a new account can do: each card leads to a result within a minute. */
export function FirstSteps() {
  const { key } = useSession();
  const models = useQuery(firstModelsQuery);
  return (
    <section aria-label="First steps" className="flex flex-col gap-5">
      <div className="grid gap-5 lg:grid-cols-3">
        <Card
          icon={<Play size={16} />}
          title="Run a model"
          text="Try one in the browser. You see the price before you run it."
        >
          {models.data?.map((model) => (
            <RunLink key={model.endpointId} model={model} />
          ))}
          {models.data?.length === 0 && (
            <Link to="/models/connect" className={buttonClass("primary")}>
              Connect your first model
            </Link>
          )}
        </Card>
        <Card
          icon={<Code size={16} />}
          title="Call it from code"
          text="Create a key and paste a call that works as it is."
        >
          <CallFromCode model={models.data?.[0]} />
        </Card>
        <Card
          icon={<Bot size={16} />}
          title="Build an agent"
          text="An agent combines a goal, a model and tools. Start from an example and change it."
        >
          {mayOpen(key, "unconfined keys") ? (
            <>
              {templates.map(({ id, name }) => (
                <Link key={id} to="/agents/new" search={{ template: id }} className={buttonClass()}>
                  {name}
                </Link>
              ))}
              <Link to="/agents/new" className={buttonClass("quiet")}>
                Start from scratch
              </Link>
            </>
          ) : (
            <Link to="/marketplace" className={buttonClass()}>
              Browse the marketplace
            </Link>
          )}
        </Card>
      </div>
      {mayOpen(key, "managers") && (
        <p className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-panel px-4 py-3">
          <Cable size={16} className="shrink-0 text-muted" aria-hidden />
          Use the models that you have: OpenAI, Anthropic, Gemini, Ollama, vLLM and others.
          <TextLink to="/models/connect">Connect a model</TextLink>
        </p>
      )}
    </section>
  );
}

/** The files in `examples/agents`. */
const templates = [
  { id: "page-reader", name: "Page reader" },
  { id: "illustrator", name: "Illustrator" },
  { id: "careful-caller", name: "Careful caller" },
];

function RunLink({ model: { endpointId, kind } }: { model: FirstModel }) {
  const [owner = "", name = ""] = endpointId.split("/");
  const isText = kind === "text";
  return (
    <Link to="/models/$owner/$name" params={{ owner, name }} className={buttonClass(isText ? "primary" : "plain")}>
      {isText ? <MessageSquareText size={14} /> : <ImageIcon size={14} />}
      {isText ? "Write with" : "Paint with"} {endpointId}
    </Link>
  );
}

function Card({ icon, title, text, children }: { icon: ReactNode; title: string; text: string; children: ReactNode }) {
  return (
    <section className="flex min-w-0 flex-col rounded-lg border border-line bg-panel p-5">
      <span aria-hidden className="mb-3 grid size-8 place-items-center rounded-md bg-accent-soft text-accent">
        {icon}
      </span>
      <h2 className="font-semibold">{title}</h2>
      <p className="mt-1 mb-4 text-muted">{text}</p>
      <div className="flex flex-wrap gap-2">{children}</div>
    </section>
  );
}
