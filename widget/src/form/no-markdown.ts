/** Stands in for the form library's Markdown renderer, a third of the script: descriptions are HTML (description.tsx). */
export function Markdown({ children }: { children?: unknown }): unknown {
  return children;
}
