/** What can be connected, under headings. */
import type { Offer } from '../api/api.ts';

/** First those without a category, then the categories in the order of the alphabet: as the form does with its groups. */
export function groupOffers(offers: readonly Offer[]): { category: string; offers: readonly Offer[] }[] {
  return [...new Set(offers.map(({ category }) => category ?? ''))]
    .sort((a, b) => a.localeCompare(b))
    .map((category) => ({ category, offers: offers.filter((offer) => (offer.category ?? '') === category) }));
}
