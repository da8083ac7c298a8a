import type { PredictionSummary } from "@gantry/sdk";
import { elapsed, seconds } from "../../../ui/format.ts";
import { useTickingText } from "../../../ui/ticker.ts";
import { type Phase, phasesOf } from "./timeline.rules.ts";

const titles: Record<Phase["name"], { ended: string; open: string }> = {
  queued: { ended: "Queued", open: "In the queue" },
  ran: { ended: "Ran", open: "Running" },
};

const colours: Record<Phase["name"], string> = { queued: "bg-strong-line", ran: "bg-accent" };

/** How long the prediction waited and ran. Ticks until it ends. */
export function Timeline({ prediction }: { prediction: PredictionSummary }) {
  const now = Number(useTickingText(() => String(Math.floor(Date.now() / 1000) * 1000)));
  const phases = phasesOf(prediction, now);
  if (phases.length === 0) return <p className="text-muted">Never started.</p>;
  return (
    <div>
      <div className="flex h-2.5 gap-0.5 overflow-hidden rounded-full bg-sunken" aria-hidden>
        {phases
          .filter(({ share }) => share > 0)
          .map(({ name, share, isOpen }) => (
            <div
              key={name}
              className={`${colours[name]} ${isOpen ? "animate-pulse motion-reduce:animate-none" : ""}`}
              style={{ width: `${share}%` }}
            />
          ))}
      </div>
      <ul className="mt-2 flex flex-wrap gap-x-5 gap-y-1">
        {phases.map(({ name, seconds: length, isOpen }) => (
          <li key={name} className="flex items-center gap-2">
            <span className={`size-2 shrink-0 rounded-full ${colours[name]}`} aria-hidden />
            <span className="text-muted">{isOpen ? titles[name].open : titles[name].ended}</span>
            <span className="font-medium tabular-nums">{isOpen ? elapsed(length) : seconds(length)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
