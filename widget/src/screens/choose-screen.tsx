/** The sources the customer can connect, as cards. */

import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import { useEffect, useState } from 'preact/hooks';
import type { Offer } from '../api/api.ts';
import { Screen } from '../parts/screen.tsx';
import { SourceIcon } from '../parts/source-icon.tsx';
import { groupOffers } from '../sources/categories.ts';
import { matches } from '../sources/names.ts';
import { useWidget } from '../widget.ts';
import { useWords } from '../words/words.ts';

/** Fewer cards need no search. */
const searchFrom = 6;

export function ChooseScreen() {
  const words = useWords();
  const { offers, pipelines, formatting, go, announce } = useWidget();
  const { sources } = pipelines;
  const [search, setSearch] = useState('');
  const found = offers.filter(({ name, description, category }) =>
    matches([name, description, category].join(' '), search),
  );
  useEffect(() => {
    if (search !== '') announce(words.choose.found(found.length, formatting.number(found.length)));
  }, [search, found.length]);

  return (
    <Screen
      name="choose"
      title={words.choose.title}
      lead={words.choose.lead}
      back={
        sources.length > 0
          ? {
              label: words.choose.yourSources(sources.length, formatting.number(sources.length)),
              onClick: () => go({ screen: 'list' }),
            }
          : undefined
      }
    >
      {offers.length >= searchFrom && (
        <search class="inlay-search">
          <Glyph name="search" />
          <input
            class="inlay-control"
            type="search"
            aria-label={words.choose.search}
            placeholder={words.choose.search}
            autoComplete="off"
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape' || search === '' || event.isComposing) return;
              event.preventDefault();
              setSearch('');
            }}
          />
        </search>
      )}
      {found.length === 0 ? (
        <div class="inlay-nothing">
          <p>{words.choose.nothingFound(search.trim())}</p>
          <Button onClick={() => setSearch('')}>{words.choose.showAll}</Button>
        </div>
      ) : (
        groupOffers(found).map(({ category, offers: members }) => (
          <section key={category}>
            {category && <h2>{category}</h2>}
            <ul class="inlay-cards" aria-label={category || words.choose.offers}>
              {members.map((offer) => (
                <li key={offer.id}>
                  <OfferCard offer={offer} connected={connectedFrom(offer)} />
                </li>
              ))}
            </ul>
          </section>
        ))
      )}
    </Screen>
  );

  function connectedFrom({ id }: Offer): number {
    return sources.filter(({ summarized_source_template: template }) => template.id === id).length;
  }
}

function OfferCard({ offer, connected }: { offer: Offer; connected: number }) {
  const words = useWords();
  const { go, formatting } = useWidget();
  return (
    <button type="button" class="inlay-card" onClick={() => go({ screen: 'form', offer })}>
      <SourceIcon icon={offer.icon} name={offer.name} />
      <span class="inlay-card-text">
        <span class="inlay-card-name">{offer.name}</span>
        {offer.description && <span class="inlay-card-description">{offer.description}</span>}
        {connected > 0 && (
          <span class="inlay-card-note">
            <Glyph name="check" />
            {words.choose.connected(connected, formatting.number(connected))}
          </span>
        )}
      </span>
      <Glyph name="chevron" />
    </button>
  );
}
