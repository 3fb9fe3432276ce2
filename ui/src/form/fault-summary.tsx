/**
 * Faults without a visible field. Other faults are shown at their fields, and the first of these fields gets the focus.
 * Also announces the number of invalid fields to screen readers, because the focus only reveals the first.
 */
import { useWords } from './form-words.ts';

export interface UnplacedFault {
  title: string;
  message: string;
}

export function FaultSummary({ count, unplaced }: { count: number; unplaced: readonly UnplacedFault[] }) {
  const words = useWords().form;
  return (
    <div class={unplaced.length > 0 ? 'inlay-fault-summary' : 'inlay-unseen'} role="status">
      {count > 1 && <p class="inlay-unseen">{words.faulty(count)}</p>}
      {unplaced.length > 0 && (
        <ul>
          {unplaced.map(({ title, message }, index) => (
            <li key={index}>{[title, message].filter((text) => text !== '').join(': ')}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
