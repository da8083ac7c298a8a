import { createLink } from "@tanstack/react-router";
import type { ComponentProps } from "react";

/** A link that stands alone, such as the name in a row. */
export const linkClass = "text-accent hover:underline";

/** A link inside a sentence: colour alone does not set it apart. */
export const textLinkClass = "text-accent underline decoration-accent/50 underline-offset-2 hover:decoration-accent";

function StyledTextLink({ className = "", ...rest }: ComponentProps<"a">) {
  return <a {...rest} className={`${textLinkClass} ${className}`} />;
}

export const TextLink = createLink(StyledTextLink);

function StyledRowLink({ className = "", ...rest }: ComponentProps<"a">) {
  return <a {...rest} data-row-link="" className={`font-medium ${linkClass} ${className}`} />;
}

/** The name in the first cell of a table. A click anywhere else in the row follows it. */
export const RowLink = createLink(StyledRowLink);
