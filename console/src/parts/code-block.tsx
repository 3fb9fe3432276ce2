/** A preformatted text with a copy button. Focusable, because it may scroll. */
import { CopyButton } from './copy-button.tsx';
import { Panel } from './page.tsx';

export interface CodeBlockProps {
  title: string;
  text: string;
  copyLabel: string;
  level?: 2 | 3;
}

export function CodeBlock({ title, text, copyLabel, level = 2 }: CodeBlockProps) {
  return (
    <Panel title={title} level={level} beside={<CopyButton text={text} label={copyLabel} />}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached with the keyboard */}
      <section class="c-code" tabIndex={0} aria-label={title}>
        {text}
      </section>
    </Panel>
  );
}
