/**
 * What no field can say. A fault stands at its field, which gets the focus; here stand those that no field is shown for.
 * To those who do not see the page, this also says how many fields are wrong: the focus tells them of the first only.
 */
import { useWords } from '../words/words.ts';

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
