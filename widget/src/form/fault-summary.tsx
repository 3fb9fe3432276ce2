/** Says how many fields need attention and leads to each; announced when it changes. */
import { useWords } from '../words/words.ts';
import { focusField } from './form-context.ts';

export interface SummaryEntry {
  title: string;
  message: string;
  /** Undefined: no field is shown for it, so that the message has to stand here. */
  id: string | undefined;
}

export function FaultSummary({ entries }: { entries: readonly SummaryEntry[] }) {
  const words = useWords().form;
  return (
    <div class="inlay-fault-summary" role="status">
      {entries.length > 0 && (
        <>
          <p>{words.summary(entries.length)}</p>
          <ul>
            {entries.map(({ id, title, message }) => (
              <li key={id ?? message}>
                {id === undefined ? (
                  [title, message].filter((text) => text !== '').join(': ')
                ) : (
                  <button type="button" onClick={() => focusField(id)}>
                    {title}
                  </button>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
