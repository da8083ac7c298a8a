import type { Manifest } from "@gantry/sdk";
import { Box, Film, ImageIcon, type LucideIcon, MessageSquareText, Waypoints } from "lucide-react";

const icons: Record<Manifest["kind"], LucideIcon> = {
  image: ImageIcon,
  video: Film,
  text: MessageSquareText,
  embedding: Waypoints,
  other: Box,
};

/** Decorative: a badge names the kind. */
export function KindIcon({ kind }: { kind: Manifest["kind"] }) {
  const Icon = icons[kind];
  return (
    <span className="grid size-10 shrink-0 place-items-center rounded-md border border-line bg-sunken text-muted">
      <Icon size={18} aria-hidden />
    </span>
  );
}
