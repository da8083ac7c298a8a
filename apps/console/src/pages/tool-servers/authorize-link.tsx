import { ExternalLink } from "lucide-react";
import { buttonClass } from "../../ui/button.tsx";

/** Opens the sign-in page of an authorization server, whose address comes from outside. */
export function AuthorizeLink({ url }: { url: string }) {
  if (!/^https?:\/\//.test(url)) return null;
  return (
    <a className={buttonClass("primary")} href={url} target="_blank" rel="noopener noreferrer">
      <ExternalLink size={14} />
      Authorize
    </a>
  );
}
