/** A long list of what can be connected, under headings. */
import type { Offer } from '../api/api.ts';
import type { Formatting } from '../words/formatting.ts';

export interface OfferGroup {
  /** Undefined: the list needs no headings. */
  category: string | undefined;
  offers: Offer[];
}

/** By category, in the order of the alphabet; those without a category come last. One category alone needs no heading. */
export function groupOffers(
  offers: readonly Offer[],
  others: string,
  { compare }: Pick<Formatting, 'compare'>,
): OfferGroup[] {
  const groups = new Map<string | null, Offer[]>();
  for (const offer of offers) groups.set(offer.category, [...(groups.get(offer.category) ?? []), offer]);
  if (groups.size < 2) return [{ category: undefined, offers: [...offers] }];
  return [...groups]
    .sort(([a], [b]) => (a === null ? 1 : b === null ? -1 : compare(a, b)))
    .map(([category, members]) => ({ category: category ?? others, offers: members }));
}
