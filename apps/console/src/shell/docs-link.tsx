import { Link } from "@tanstack/react-router";
import { BookOpen } from "lucide-react";

export function DocsLink() {
  return (
    <div className="border-line border-t p-2">
      <Link
        to="/docs/$"
        params={{ _splat: "" }}
        className="flex items-center gap-2 rounded-md px-2 py-1 text-muted hover:bg-sunken hover:text-ink [&.active]:bg-accent-soft [&.active]:font-medium [&.active]:text-accent"
      >
        <BookOpen size={15} /> Documentation
      </Link>
    </div>
  );
}
