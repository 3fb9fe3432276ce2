/** Offered templates, grouped under headings. */
import type { Offer } from '../api/api.ts';

/** Uncategorised first, then categories alphabetically, like the groups of a form. */
export function groupOffers(offers: readonly Offer[]): { category: string; offers: readonly Offer[] }[] {
  return [...new Set(offers.map(({ category }) => category ?? ''))]
    .sort((a, b) => a.localeCompare(b))
    .map((category) => ({ category, offers: offers.filter((offer) => (offer.category ?? '') === category) }));
}
