/** Lists the keyboard shortcuts. */
import { InfoDialog } from '../parts/dialogs/info-dialog.tsx';
import { words } from '../words/words.ts';
import { goKeys } from './keys.ts';

export function KeyList({ onClose }: { onClose(): void }) {
  const entries: [string[], string][] = [
    [['/'], words.keys.search],
    [['j'], words.keys.next],
    [['k'], words.keys.previous],
    [['Enter'], words.keys.open],
    ...Object.entries(goKeys).map(([key, screen]): [string[], string] => [
      ['g', key],
      words.keys.goTo(words.nav[screen]),
    ]),
    [['?'], words.keys.help],
  ];
  return (
    <InfoDialog title={words.keys.title} onClose={onClose}>
      <dl class="c-keys">
        {entries.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key, index) => (
                <>
                  {index > 0 && <span class="c-muted"> {words.keys.followedBy} </span>}
                  <kbd>{key}</kbd>
                </>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </InfoDialog>
  );
}
