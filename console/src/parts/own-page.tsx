/** Links to the customer in the operator's own system, if its URL is configured. */
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import { useConsole } from '../console.ts';
import { words } from '../words/words.ts';
import { customerUrl } from './customer-url.ts';

export function OwnPage({ customer, isShort = false }: { customer: { id: string; name: string }; isShort?: boolean }) {
  const { customer_url: template } = useConsole().session;
  if (!template) return null;
  const text = words.customer.ownPage;
  return (
    <a
      class={isShort ? 'c-own-page' : 'c-link c-own-page'}
      href={customerUrl(template, customer)}
      target="_blank"
      rel="noreferrer"
      {...(isShort && { 'aria-label': `${text}: ${customer.name}`, title: text })}
    >
      {!isShort && text} <Glyph name="external" />
    </a>
  );
}
